package import LibAV
package import MediaTypes

/// A scene's filter graph for source frames of given formats, with its other inputs, such as background and masks.
///
/// ``SceneBuilder`` creates the composition and runs its graph, and it is handed over under a lock; after that only the
/// program thread uses it.
package final class Composition: @unchecked Sendable {
    // @unchecked Sendable: the builder drops its reference when it stores the composition with its scene; from then on
    // only the program thread composes with it, which alone changes the graph and the variables.
    package let panes: [Pane]
    /// Format of each pane's input, in the order of `panes`.
    package let formats: [PictureFormat]
    package let slots: [OverlaySlot]
    private let roles: [SceneGraph.Role]
    /// Filter graph; `nil` if the scene is only its background, or one pane whose frame is passed through unchanged.
    private let graph: FilterGraph?
    /// Background of the scene; `nil` if no part of it is visible.
    private let background: Picture?
    private let masks: [Int: Picture]
    private let rings: [Int: Picture]
    /// Cards that replace missing frames, each in the format of its pane's input.
    private let cards: [Picture]
    private var sprites: [Picture]
    private let canvas: PictureFormat
    /// Number of runs of the graph, used as the timestamp of its inputs, which must increase.
    private var runs: Int64 = 0
    /// Inputs of the current run. The array is reused for every tick, and empty between ticks, so that it keeps no
    /// frame alive.
    private var feeds: [Picture] = []
    private var results: [Picture] = []

    /// All inputs of a composition's graph.
    struct Parts {
        var panes: [Pane] = []
        var formats: [PictureFormat] = []
        var cards: [Picture] = []
        var masks: [Int: Picture] = [:]
        var rings: [Int: Picture] = [:]
        /// One frame per sprite, bottom first. `slots` lists the sprites whose frame changes, by sprite index.
        var sprites: [Picture] = []
        var slots: [(sprite: Int, slot: OverlaySlot)] = []
        var background: Picture
    }

    /// Index in `sprites` of each entry of `slots`.
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

    /// Composes one canvas.
    ///
    /// - Parameters:
    ///   - frames: One frame for each pane; `nil` shows the pane's card. A frame whose format differs from the pane's
    ///     input is not used: the card is shown instead.
    ///   - decorations: One frame per entry of ``slots``; `nil`, or a frame of another size, keeps the current one.
    /// - Throws: ``MediaError`` from libavfilter; the caller can show the previous canvas again.
    package func compose(_ frames: [Picture?], decorations: [Picture?]) throws(MediaError) -> Picture {
        guard let graph = self.graph else {
            guard let format = self.formats.first, let card = self.cards.first else {
                return try self.present(self.background)
            }
            let picture = frames.first.flatMap { $0 }.flatMap { $0.format == format ? $0 : nil } ?? card
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
                let picture = index < frames.count ? frames[index] : nil
                self.feeds.append(picture.flatMap { $0.format == self.formats[index] ? $0 : nil } ?? self.cards[index])
            case .mask(let index): self.feeds.append(try self.present(self.masks[index]))
            case .ring(let index): self.feeds.append(try self.present(self.rings[index]))
            case .sprite(let index): self.feeds.append(self.sprites[index])
            }
        }
        self.runs += 1
        try graph.run(self.feeds, pts: self.runs, into: &self.results)
        guard let composed = self.results.first else {
            throw MediaError(
                .internal, "the scene graph has no output", at: "compose", fix: "report this error with the log")
        }
        return try composed.signalled(as: self.canvas)
    }

    /// Whether the graph keeps memory for more canvases than were needed since the last call. Call it on the program
    /// thread.
    func isOversized() -> Bool { self.graph?.isOversized() ?? false }

    private func present(_ picture: Picture?) throws(MediaError) -> Picture {
        guard let picture else {
            throw MediaError(
                .internal, "an image of the scene is missing", at: "compose", fix: "report this error with the log")
        }
        return picture
    }

    /// Number of panes whose input format equals the format of their source in `formats`; a pane whose source is not
    /// listed always counts.
    func matches(_ formats: [SourceID: PictureFormat]) -> Int {
        zip(self.panes, self.formats).count { pane, format in formats[pane.source].map { $0 == format } ?? true }
    }
}
