package import LibAV
package import MediaTypes

/// What stands in a pane while its source has no picture to show.
package enum PlaceholderCard {
    /// A dark card with the source's name and a line on its state, drawn for a pane of this size.
    ///
    /// - Throws: ``MediaError/Code/outOfMemory``.
    package static func draw(name: String, width: Int, height: Int) throws(MediaError) -> Picture {
        var card = try PictureCanvas.open(width: width, height: height, fill: CanvasColor(red: 24, green: 25, blue: 31))
        let accent = CanvasColor(red: 94, green: 106, blue: 210)
        let edge = max(2, min(width, height) / 60 & ~1)
        card.fill(x: 0, y: height - edge & ~1, width: width, height: edge, accent)
        // A head and shoulders: what people know as "nobody here".
        let unit = max(2, min(width, height) / 24 & ~1)
        let (centerX, centerY) = (width / 2 & ~1, height / 2 & ~1)
        let figure = CanvasColor(red: 70, green: 73, blue: 86)
        card.fill(x: centerX - unit, y: centerY - 5 * unit, width: 2 * unit, height: 2 * unit, figure)
        card.fill(x: centerX - 2 * unit, y: centerY - 2 * unit, width: 4 * unit, height: 2 * unit, figure)
        let text = CanvasColor(red: 226, green: 228, blue: 236)
        card.drawCentered(
            String(name.prefix(24)), centerX: centerX, centerY: centerY + 2 * unit, maxWidth: width * 3 / 4,
            maxScale: max(2, min(width, height) / 80), text)
        return card.finish()
    }
}
