package import MediaTypes

/// A layout with its decorations and audio volumes.
package struct Scene: Sendable, Hashable {
    /// How the panes are arranged.
    package enum Arrangement: Sendable, Hashable {
        /// A named layout of these users' main streams, in this order. ``Layout/auto`` without users applies to the
        /// main streams of all sources except those with ``Pipeline/Source/background``.
        case layout(Layout, uids: [String])
        /// An explicit list of panes.
        case panes([Pane])
    }

    /// A user's volume while the scene is on air.
    package struct AudioOverride: Sendable, Hashable {
        package var uid: String
        /// Volume in percent (0…200).
        package var volume: Int

        package init(uid: String, volume: Int) {
            self.uid = uid
            self.volume = volume
        }
    }

    package typealias CanvasSize = MediaTypes.CanvasSize

    /// Id of the scene: `[A-Za-z0-9_.-]{1,64}`.
    package var sceneID: String
    /// Version number of this scene (0…9,007,199,254,740,991). Default 0.
    package var revision = 0
    package var arrangement: Arrangement
    /// Canvas size while the scene is on air; `nil`: that of the pipeline's canvas.
    package var canvas: CanvasSize?
    /// Color behind and around the panes; `nil`: that of the pipeline's canvas.
    package var backgroundColor: Color?
    /// Images behind the panes; `nil`: those of the pipeline's canvas.
    package var bgImages: [StillImage]?
    package var images: [StillImage] = []
    package var texts: [TextLabel] = []
    package var scoreBars: [ScoreBar] = []
    package var countdowns: [Countdown] = []
    /// Volumes of users while the scene is on air; at most one per user.
    package var audioOverrides: [AudioOverride] = []
    /// The ring around the pane of each source that speaks; `nil`: none.
    package var speakingRing: SpeakingRing?
    /// The transition with which the scene goes on air.
    package var transition = Transition()

    package init(_ sceneID: String, _ arrangement: Arrangement) {
        self.sceneID = sceneID
        self.arrangement = arrangement
    }

    /// Returns the size of the canvas in pixels while the scene is on air.
    package func size(on canvas: Pipeline.Canvas) -> (width: Int, height: Int) {
        (self.canvas?.width ?? canvas.width, self.canvas?.height ?? canvas.height)
    }

    /// Returns the panes in file order, with layouts and percentages resolved to rectangles.
    ///
    /// - Parameters:
    ///   - canvas: The pipeline's canvas.
    ///   - live: The live users, for ``Layout/auto``; `nil`: all users that the layout lists. Only the first 16 are
    ///     shown.
    package func resolvedPanes(canvas: Pipeline.Canvas, live: [String]? = nil) -> [PlacedPane] {
        let (width, height) = self.size(on: canvas)
        switch self.arrangement {
        case .panes(let panes): return panes.map { PlacedPane($0, $0.area.pixels(width: width, height: height)) }
        case .layout(let layout, let uids):
            let shown = layout == .auto ? Self.heads(uids, live) : uids
            let rectangles = layout.rectangles(for: shown.count, width: width, height: height)
            return zip(shown, rectangles).enumerated().map { index, place in
                let (uid, rect) = place
                var pane = Pane(SourceID(uid), x: rect.x, y: rect.y, width: rect.width, height: rect.height)
                if layout == .pip { pane.zOrder = min(index, 1) }
                return PlacedPane(pane, rect)
            }
        }
    }

    /// The sources of ``resolvedPanes(canvas:live:)``, in the same order, if all users of ``Layout/auto`` are live;
    /// empty for ``Layout/auto`` without users.
    package var sources: [SourceID] {
        switch self.arrangement {
        case .panes(let panes): panes.map(\.source)
        case .layout(.auto, let uids): Self.heads(uids, nil).map { SourceID($0) }
        case .layout(.solo, let uids): uids.prefix(1).map { SourceID($0) }
        case .layout(_, let uids): uids.map { SourceID($0) }
        }
    }

    private static func heads(_ uids: [String], _ live: [String]?) -> [String] {
        guard let live else { return Array(uids.prefix(16)) }
        let heads = uids.isEmpty ? live : uids.filter { live.contains($0) }
        return Array(heads.prefix(16))
    }

    /// Whether the scene's panes depend on which users are live (``Layout/auto``).
    package var isAutomatic: Bool {
        if case .layout(.auto, _) = self.arrangement { true } else { false }
    }

    /// The users that the scene names, without duplicates, in file order.
    package var uids: [String] {
        var seen: Set<String> = []
        return switch self.arrangement {
        case .panes(let panes): panes.map(\.source.uid).filter { seen.insert($0).inserted }
        case .layout(_, let uids): uids.filter { seen.insert($0).inserted }
        }
    }
}
