//! What a cut takes from a cloth, on grids and on meshes. That the lower part then falls is a
//! conformance check.

use muslin::scene::{Cloth, Scene, Springs};
use muslin::{Model, Sheet};

/// Every family of springs and hinges on a 4 × 5 grid: four columns, five rows.
fn sheet(kim: bool) -> Cloth {
    let springs = if kim {
        Springs { type1: 10.0, type2: 5.0, hinge: 1e-3, ..Springs::default() }
    } else {
        let (structural, shear, bend) = (10.0, 5.0, 2.0);
        Springs { structural, shear, bend, hinge: 1e-3, ..Springs::default() }
    };
    Cloth { springs, particle_mass: Some(0.01), ..Sheet::rectangle(0.3, 0.4, 4, 5) }
}

fn compile(cloth: Cloth) -> Result<Model, muslin::Error> {
    Scene { cloth: vec![cloth], ..Scene::default() }.compile()
}

/// Whether anything joins particles below `border` with those from it on.
fn joined(model: &Model, border: u32) -> bool {
    let mixed = |ids: &[u32]| ids.iter().any(|i| *i < border) && ids.iter().any(|i| *i >= border);
    model.topology.links.ends().iter().any(|ends| mixed(ends))
        || model.topology.elements.iter().any(|corners| mixed(corners))
        || model.triangles.iter().any(|corners| mixed(corners))
}

#[test]
fn a_cut_across_a_grid_leaves_two_pieces() {
    for kim in [false, true] {
        let whole = compile(sheet(kim)).unwrap();
        let cuts = (4..8).map(|above| [above, above + 4]).collect();
        let cut = compile(Cloth { cuts, ..sheet(kim) }).unwrap();
        assert!(joined(&whole, 8) && !joined(&cut, 8));
        assert_eq!((whole.piece_count, cut.piece_count), (1, 2));
        // What lies on one side stays: here two rows above and three below.
        assert_eq!(cut.triangles.len(), whole.triangles.len() - 6);
        let across = if kim {
            // 4 axial and 6 diagonal springs, and of those over two cells 8 and 8.
            4 + 6 + 8 + 8
        } else {
            4 + 6 + 8
        };
        assert_eq!(cut.spring_count(), whole.spring_count() - across);
        assert_eq!(cut.mass, whole.mass);
    }
}

#[test]
fn clipping_a_corner_of_a_cell_spares_the_other_diagonal() {
    // The two edges at particle 5 in the cell 5, 6, 9, 10: 6–9 passes beside the cut, 5–10 does not.
    let cut = compile(Cloth { cuts: vec![[5, 6], [5, 9]], ..sheet(false) }).unwrap();
    let has = |a, b| cut.topology.links.ends().contains(&[a, b]);
    assert!(has(6, 9) && !has(5, 10) && !has(5, 6) && !has(5, 9));
    // Springs over two cells go with their halves.
    assert!(!has(4, 6) && !has(5, 7) && !has(1, 9) && !has(5, 13) && has(6, 14));
    assert_eq!(cut.piece_count, 1);
}

#[test]
fn a_mesh_is_cut_along_its_own_edges() {
    let grid = compile(sheet(false)).unwrap();
    let vertices = grid.rest_x.iter().map(|x| x.as_dvec3()).collect();
    let triangles: Vec<_> = grid.triangles.iter().map(|t| t.map(|i| i as usize)).collect();
    let crossed = |[a, b]: [usize; 2]| (a < 8) != (b < 8);
    let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let cuts: Vec<_> = sides.filter(|side| crossed(*side)).collect();
    let springs = Springs { structural: 10.0, hinge: 1e-3, ..Springs::default() };
    let mesh = Sheet::mesh(vertices, triangles);
    let mesh = Cloth { springs, particle_mass: Some(0.01), ..mesh };
    assert!(joined(&compile(mesh.clone()).unwrap(), 8));
    let cut = compile(Cloth { cuts, ..mesh.clone() }).unwrap();
    assert!(!joined(&cut, 8) && cut.piece_count == 2);
    // On a mesh only its own edges can be cut.
    let far = compile(Cloth { cuts: vec![[0, 19]], ..mesh }).unwrap_err();
    assert_eq!(far.key, "cloth.0.cuts.0");
}

#[test]
fn what_is_no_edge_cannot_be_cut() {
    for pair in [[0, 2], [0, 0], [3, 4], [0, 99]] {
        let refused = compile(Cloth { cuts: vec![pair], ..sheet(false) }).unwrap_err();
        assert_eq!(refused.key, "cloth.0.cuts.0", "{pair:?}");
    }
}
