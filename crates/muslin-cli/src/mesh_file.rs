//! Reads the vertices and faces of an OBJ, glTF or GLB file.
//!
//! Vertices of an OBJ file keep the order of the file, so that the particle indices of pins mean what the file
//! says; texture and normal indices are skipped, so that a seam in them does not tear the cloth.

use crate::gltf_file::{self, Clip};
use glam::{DVec3, dvec3};
use muslin::scene::Mesh;
use std::path::Path;

/// The mesh in a file, as it stands, or what is wrong with it. `keep_polygons`: faces with more than three
/// corners stay as they are, so that their diagonals become no springs.
pub fn read(path: &Path, keep_polygons: bool) -> Result<Mesh, String> {
    if gltf_file::is_gltf(path) {
        let still = gltf_file::read(path, Clip::Still)?;
        return Ok(Mesh {
            vertices: still.vertices_at(0.0),
            triangles: still.triangles.iter().map(|corners| corners.map(|i| i as usize)).collect(),
            ..Mesh::default()
        });
    }
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot be read: {e}"))?;
    parse(&text, keep_polygons)
}

fn parse(text: &str, keep_polygons: bool) -> Result<Mesh, String> {
    let mut mesh = Mesh::default();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what} in \"{}\"", number + 1, line.trim());
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut coordinate =
                    || words.next().and_then(|w| w.parse::<f64>().ok()).filter(|x| x.is_finite());
                let vertex: Option<DVec3> = (|| {
                    let (x, y, z) = (coordinate()?, coordinate()?, coordinate()?);
                    Some(dvec3(x, y, z))
                })();
                mesh.vertices.push(vertex.ok_or_else(|| wrong("three numbers expected"))?);
            }
            Some("f") => {
                let corners: Option<Vec<usize>> =
                    words.map(|word| corner(word, mesh.vertices.len())).collect();
                let corners = corners
                    .filter(|c| c.len() >= 3)
                    .ok_or_else(|| wrong("three or more existing vertices expected"))?;
                if keep_polygons {
                    mesh.faces.push(corners);
                    continue;
                }
                // Polygons become fans.
                let fan = corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]);
                mesh.triangles.extend(fan);
            }
            _ => {}
        }
    }
    if mesh.triangles.is_empty() && mesh.faces.is_empty() {
        return Err("holds no faces; export the mesh as OBJ with faces".into());
    }
    Ok(mesh)
}

/// The vertex of a corner `v`, `v/vt` or `v/vt/vn`; counts from 1, or from the end if negative.
fn corner(word: &str, count: usize) -> Option<usize> {
    let index: i64 = word.split('/').next()?.parse().ok()?;
    let index = if index < 0 { count as i64 + index } else { index - 1 };
    usize::try_from(index).ok().filter(|i| *i < count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_and_relative_indices() {
        let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1 2/2 3/3 -1\n";
        let mesh = parse(square, false).unwrap();
        assert_eq!(mesh.vertices.len(), 4);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(parse(square, true).unwrap().faces, [[0, 1, 2, 3]]);
    }

    #[test]
    fn errors_name_the_line() {
        assert!(parse("v 0 0 0\nf 1 2 3\n", false).unwrap_err().starts_with("line 2"));
        assert!(parse("v 0 nan 0\n", false).unwrap_err().starts_with("line 1"));
    }
}
