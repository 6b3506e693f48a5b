package import MediaTypes

/// Joins small images into one sheet, from which players cut the previews of their seek bar.
package enum SpriteSheet {
    /// Maximum width and height of a sheet in pixels, to which ``JPEGEncoder`` would scale a larger one. Not checked
    /// here.
    package static let longestSide = 4_096

    /// Scales a frame to the size of a cell.
    ///
    /// - Throws: Errors of the filters.
    package static func cell(_ picture: Picture, width: Int, height: Int) throws(MediaError) -> Picture {
        let graph = try FilterGraph.open(
            "[in]scale=w=\(width):h=\(height):flags=area,format=pix_fmts=yuv420p,setsar=1[out]",
            inputs: [FilterGraph.Input(label: "in", format: picture.format)], outputs: ["out"], fps: 1, place: "sprites"
        )
        guard let cell = try graph.run([picture], pts: 0).first else { throw Self.lost }
        return cell
    }

    /// Joins cells into a sheet.
    ///
    /// - Parameter cells: At most `columns × rows`, in reading order, all of the same size; the rest of the sheet is
    ///   black.
    /// - Throws: ``MediaError/Code/rejected`` if there are more, or none, and errors of the filters.
    package static func sheet(_ cells: [Picture], columns: Int, rows: Int) throws(MediaError) -> Picture {
        guard let first = cells.first, columns > 0, rows > 0, cells.count <= columns * rows else { throw Self.lost }
        let (width, height) = (first.format.width, first.format.height)
        guard columns * rows > 1 else { return first }
        var all = cells
        if all.count < columns * rows {
            let black = try PictureCanvas.open(width: width, height: height, fill: .black).finish()
            all += [Picture](repeating: black, count: columns * rows - all.count)
        }
        let labels = all.indices.map { "c\($0)" }
        let places = all.indices.map { "\($0 % columns * width)_\($0 / columns * height)" }.joined(separator: "|")
        let graph = try FilterGraph.open(
            labels.map { "[\($0)]" }.joined() + "xstack=inputs=\(all.count):layout=\(places)[out]",
            inputs: zip(labels, all).map { FilterGraph.Input(label: $0, format: $1.format) }, outputs: ["out"], fps: 1,
            place: "sprites")
        guard let sheet = try graph.run(all, pts: 0).first else { throw Self.lost }
        return sheet
    }

    private static var lost: MediaError {
        MediaError(.rejected, "no sprite sheet was created", at: "sprites", fix: "use fewer columns and rows")
    }
}
