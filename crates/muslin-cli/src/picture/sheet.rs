//! Contact sheets: several pictures in rows, in the order they come.

use super::stage::Image;

/// Pixels between pictures.
const GAP: usize = 6;
const WHITE: [u8; 3] = [255; 3];

/// One picture of many, `columns` to a row; each gets the room of the largest.
pub fn sheet(images: &[Image], columns: usize) -> Image {
    let columns = columns.clamp(1, images.len().max(1));
    let rows = images.len().div_ceil(columns);
    let wide = images.iter().map(|image| image.width).max().unwrap_or(1);
    let high = images.iter().map(|image| image.height).max().unwrap_or(1);
    let width = columns * (wide + GAP) - GAP;
    let height = (rows * (high + GAP)).saturating_sub(GAP).max(1);
    let mut pixels = vec![WHITE; width * height];
    for (index, image) in images.iter().enumerate() {
        let (left, top) = (index % columns * (wide + GAP), index / columns * (high + GAP));
        for row in 0..image.height {
            let start = (top + row) * width + left;
            let line = &image.pixels[row * image.width..(row + 1) * image.width];
            pixels[start..start + image.width].copy_from_slice(line);
        }
    }
    Image { width, height, pixels }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_keep_their_places() {
        let one = |shade: u8, width, height| Image {
            width,
            height,
            pixels: vec![[shade; 3]; width * height],
        };
        let all = sheet(&[one(1, 4, 3), one(2, 4, 3), one(3, 2, 2)], 2);
        assert_eq!((all.width, all.height), (2 * 4 + GAP, 2 * 3 + GAP));
        let at = |row: usize, column: usize| all.pixels[row * all.width + column][0];
        assert_eq!((at(0, 0), at(2, 3), at(0, 4 + GAP), at(3 + GAP, 0)), (1, 1, 2, 3));
        assert_eq!((at(0, 4), at(3, 0), at(3 + GAP, 2)), (255, 255, 255));
    }
}
