//! Rectangular grids, particles row by row: index = row · columns + column.
//!
//! ```text
//!   (0,0) ── (0,1) ── (0,2)      columns run along the cloth's `across` axis,
//!     │   ╲    │    ╱   │        rows along its `down` axis;
//!   (1,0) ── (1,1) ── (1,2)      the triangles' diagonals alternate, because one
//!     │   ╱    │    ╲   │        direction everywhere would bend and shear unequally
//! ```

/// Offsets (rows, columns) along a spring direction: right, down, and both diagonals.
pub const AXIAL: [(usize, isize); 2] = [(0, 1), (1, 0)];
/// The two diagonal directions.
pub const DIAGONAL: [(usize, isize); 2] = [(1, 1), (1, -1)];

/// All pairs at `offset` times `distance` that start in row `row`, in column order.
pub fn pairs_from_row(
    columns: usize,
    rows: usize,
    row: usize,
    offset: (usize, isize),
    distance: usize,
) -> impl Iterator<Item = [u32; 2]> {
    let (down, right) = (offset.0 * distance, offset.1 * distance as isize);
    let first = (-right).max(0);
    let last = if row + down < rows { columns as isize - right.max(0) } else { first };
    (first..last).map(move |column| {
        let a = row * columns + column as usize;
        let b = (row + down) * columns + (column + right) as usize;
        [a as u32, b as u32]
    })
}

/// Two triangles per cell with alternating diagonals, counter-clockwise seen from
/// `across × down`.
pub fn triangles(columns: usize, rows: usize) -> Vec<[u32; 3]> {
    let mut out = Vec::new();
    for row in 0..rows.saturating_sub(1) {
        for column in 0..columns.saturating_sub(1) {
            let a = (row * columns + column) as u32;
            let (b, c, d) = (a + 1, a + columns as u32, a + columns as u32 + 1);
            if (row + column) % 2 == 0 {
                out.extend([[a, b, d], [a, d, c]]);
            } else {
                out.extend([[a, b, c], [b, d, c]]);
            }
        }
    }
    out
}
