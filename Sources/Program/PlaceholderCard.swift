package import LibAV
package import MediaTypes

/// The image in a pane whose source has no frame, or must not be shown.
package enum PlaceholderCard {
    /// Draws a dark card with the source's name, or the operator's image, in the format of the source's frames and with
    /// everything inside the part that the pane shows.
    ///
    /// - Parameters:
    ///   - image: Shown instead of the card, scaled to fill the visible part; what does not fit is cut off.
    ///   - visible: The visible part of the frame, in samples.
    ///   - text: Draws the name; `nil` uses the built-in alphabet.
    /// - Throws: ``MediaError`` if the card or image cannot be drawn in the format.
    package static func draw(
        name: String, image: Picture?, for format: PictureFormat, visible: Rect, text: TextRenderer?
    ) throws(MediaError) -> Picture {
        var inputs: [FilterGraph.Input] = []
        var feeds: [Picture] = []
        var chain: String
        if let image {
            let rect = Rect(x: 0, y: 0, width: visible.width, height: visible.height)
            let placed = PanePlacement(Pane(source: SourceID(uid: ""), rect: rect), image.format)
            let ground = try PictureCanvas.open(width: format.width, height: format.height, fill: .black).finish()
            feeds = [ground, image]
            chain = "[g]setsar=1[h];[i]\(placed.chain)[s];[h][s]overlay=x=\(visible.x):y=\(visible.y):format=yuv420"
            inputs.append(FilterGraph.Input(label: "g", format: ground.format))
            inputs.append(FilterGraph.Input(label: "i", format: image.format))
        } else {
            let words = try text.flatMap { text throws(MediaError) in try self.words(name, visible, text) } ?? nil
            let card = try self.card(words == nil ? name : "", format.width, format.height, visible)
            feeds = [card]
            inputs.append(FilterGraph.Input(label: "g", format: card.format))
            chain = "[g]setsar=1"
            if let words {
                feeds.append(words.picture)
                inputs.append(FilterGraph.Input(label: "i", format: words.picture.format))
                chain = "[g]setsar=1[h];[h][i]overlay=x=\(words.x):y=\(words.y):format=yuv420"
            }
        }
        if !format.isCanvasLike {
            chain += ",scale=\(format.width):\(format.height):in_range=limited:in_color_matrix=bt709"
            chain += ":out_range=\(format.isFullRange ? "full" : "limited")"
            if !format.isRGB { chain += ":out_color_matrix=\(format.isBT601 ? "bt601" : "bt709")" }
            chain += ",format=\(format.pixelFormatName)"
        }
        let graph = try FilterGraph.open(chain + "[o]", inputs: inputs, outputs: ["o"], fps: 30, place: "card")
        guard let picture = try graph.run(feeds, pts: 0).first else {
            throw MediaError(
                .internal, "the filter graph returned no card", at: "card", fix: "report this error with the log")
        }
        return try picture.signalled(as: format)
    }

    /// Draws the source's name with a font, and returns its place below the card's figure; `nil` if there is no font or
    /// the visible part is too small.
    private static func words(
        _ name: String, _ visible: Rect, _ text: TextRenderer
    ) throws(MediaError) -> (picture: Picture, x: Int, y: Int)? {
        guard !text.fonts.fonts.isEmpty, visible.width >= 32, visible.height >= 32 else { return nil }
        let size = max(10, min(visible.width, visible.height) / 10)
        let style = SceneText(
            id: "", text: String(name.prefix(48)), x: visible.width / 2, y: 0, size: size,
            color: CanvasColor(red: 226, green: 228, blue: 236), align: .center, maxWidth: visible.width * 3 / 4)
        // Do not use the room's canvas as the limit: the card may be larger, and is scaled with the frame.
        let layout = try text.on(Canvas(width: visible.width, height: visible.height, fps: 1)).layout(style)
        let width = (layout.width + 8) & ~1
        guard let sprite = TextRenderer.sprite(style, layout, width: width, height: layout.height) else { return nil }
        let unit = self.unit(visible)
        return (
            try sprite.picture(), visible.x + (visible.width - sprite.width) / 2 & ~1,
            (visible.y + visible.height / 2 + unit) & ~1
        )
    }

    private static func unit(_ visible: Rect) -> Int { max(2, min(visible.width, visible.height) / 24 & ~1) }

    private static func card(_ name: String, _ width: Int, _ height: Int, _ visible: Rect) throws(MediaError) -> Picture
    {
        var card = try PictureCanvas.open(width: width, height: height, fill: CanvasColor(red: 24, green: 25, blue: 31))
        let accent = CanvasColor(red: 94, green: 106, blue: 210)
        let side = min(visible.width, visible.height)
        let edge = max(2, side / 60 & ~1)
        card.fill(x: visible.x, y: visible.y + visible.height - edge & ~1, width: visible.width, height: edge, accent)
        // Head and shoulders, the usual symbol for "no video".
        let unit = self.unit(visible)
        let (centerX, centerY) = (visible.x + visible.width / 2 & ~1, visible.y + visible.height / 2 & ~1)
        let figure = CanvasColor(red: 70, green: 73, blue: 86)
        card.fill(x: centerX - unit, y: centerY - 5 * unit, width: 2 * unit, height: 2 * unit, figure)
        card.fill(x: centerX - 2 * unit, y: centerY - 2 * unit, width: 4 * unit, height: 2 * unit, figure)
        card.drawCentered(
            String(name.prefix(24)), centerX: centerX, centerY: centerY + 2 * unit, maxWidth: visible.width * 3 / 4,
            maxScale: max(2, side / 80), CanvasColor(red: 226, green: 228, blue: 236))
        return card.finish()
    }
}
