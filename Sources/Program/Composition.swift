package import LibAV
package import MediaTypes

/// A scene's graph, built and warm, for pictures of given formats, with everything else that is fed to it.
///
/// Made and run once by the builder, then handed over under a lock and used by the program thread alone.
package final class Composition: @unchecked Sendable {
    // @unchecked Sendable: the builder lets go of it when it puts it on its scene's shelf; from then on only the program
    // thread composes with it. Everything but `graph` and `sprites` is constant.
    package let panes: [Pane]
    /// What each pane's input takes, in the order of `panes`.
    package let formats: [PictureFormat]
    package let slots: [DecorationSlot]
    private let roles: [SceneGraph.Role]
    /// `nil` for a scene that is its background alone, or one pane's picture as it comes.
    private let graph: FilterGraph?
    /// `nil` where none of it is seen.
    private let background: Picture?
    private let masks: [Int: Picture]
    private let rings: [Int: Picture]
    /// Stands for a pane's picture, in the format of its input.
    private let cards: [Picture]
    private var sprites: [Picture]
    private let canvas: PictureFormat
    /// Pictures must be stamped in order; how often this graph ran is as good as any clock.
    private var runs: Int64 = 0
    /// Used again each tick; empty in between, so that no picture is held.
    private var feeds: [Picture] = []
    private var results: [Picture] = []

    /// Everything that is fed to the graph.
    struct Parts {
        var panes: [Pane] = []
        var formats: [PictureFormat] = []
        var cards: [Picture] = []
        var masks: [Int: Picture] = [:]
        var rings: [Int: Picture] = [:]
        /// One per sprite, bottom first; by number the slots of those that change.
        var sprites: [Picture] = []
        var slots: [(sprite: Int, slot: DecorationSlot)] = []
        var background: Picture
    }

    /// By position in `slots`, the sprite it is.
    private let slotSprites: [Int]

    init(_ parts: Parts, text: SceneGraph, graph: FilterGraph?, canvas: PictureFormat) {
        self.panes = parts.panes
        self.formats = parts.formats
        self.slots = parts.slots.map(\.slot)
        self.slotSprites = parts.slots.map(\.sprite)
        self.roles = text.roles
        self.graph = graph
        self.background =
            graph == nil && parts.formats.isEmpty || text.roles.contains(.background) ? parts.background : nil
        self.masks = parts.masks
        self.rings = parts.rings
        self.cards = parts.cards
        self.sprites = parts.sprites
        self.canvas = canvas
        graph?.signals = canvas
    }

    /// One canvas.
    ///
    /// - Parameters:
    ///   - pictures: One for each pane; `nil` shows the pane's card. A picture of another format than the pane's input
    ///     is never fed: the card stands for it too.
    ///   - decorations: One for each slot; `nil`, or one of another size, leaves what was there.
    /// - Throws: ``MediaError`` from libavfilter; the canvas of the tick before can be shown again.
    package func compose(_ pictures: [Picture?], decorations: [Picture?]) throws(MediaError) -> Picture {
        guard let graph = self.graph else {
            guard let format = self.formats.first, let card = self.cards.first else {
                return try self.present(self.background)
            }
            let picture = pictures.first.flatMap { $0 }.flatMap { $0.format == format ? $0 : nil } ?? card
            return try picture.signalled(as: self.canvas)
        }
        for (index, picture) in decorations.enumerated() where index < self.slotSprites.count {
            let sprite = self.slotSprites[index]
            if let picture, picture.format == self.sprites[sprite].format { self.sprites[sprite] = picture }
        }
        defer {
            self.feeds.removeAll(keepingCapacity: true)
            self.results.removeAll(keepingCapacity: true)
        }
        for role in self.roles {
            switch role {
            case .background: self.feeds.append(try self.present(self.background))
            case .pane(let index):
                let picture = index < pictures.count ? pictures[index] : nil
                self.feeds.append(picture.flatMap { $0.format == self.formats[index] ? $0 : nil } ?? self.cards[index])
            case .mask(let index): self.feeds.append(try self.present(self.masks[index]))
            case .ring(let index): self.feeds.append(try self.present(self.rings[index]))
            case .sprite(let index): self.feeds.append(self.sprites[index])
            }
        }
        self.runs += 1
        try graph.run(self.feeds, pts: self.runs, into: &self.results)
        guard let composed = self.results.first else {
            throw MediaError(.internal, "the scene graph has no output", at: "compose", fix: "report this")
        }
        return try composed.signalled(as: self.canvas)
    }

    /// Looks whether its graph keeps memory for canvases that nobody has needed since this was asked last. Program thread.
    func isOversized() -> Bool { self.graph?.isOversized() ?? false }

    private func present(_ picture: Picture?) throws(MediaError) -> Picture {
        guard let picture else {
            throw MediaError(.internal, "a picture of the scene is missing", at: "compose", fix: "report this")
        }
        return picture
    }

    /// How many panes take exactly what their source gives now; panes without a picture take anything.
    func matches(_ formats: [SourceID: PictureFormat]) -> Int {
        zip(self.panes, self.formats).count { pane, format in formats[pane.source].map { $0 == format } ?? true }
    }
}
