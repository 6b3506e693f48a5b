/// A layout and its sound.
package struct Scene: Sendable, Hashable {
    /// Where the panes are.
    package enum Arrangement: Sendable, Hashable {
        /// A named layout of the main streams of these users, in this order.
        case layout(Layout, uids: [String])
        /// Each pane spelled out.
        case panes([Pane])
    }

    /// A volume that holds while the scene is on air.
    package struct AudioOverride: Sendable, Hashable {
        package var uid: String
        /// Percent (0…200).
        package var volume: Int

        package init(uid: String, volume: Int) {
            self.uid = uid
            self.volume = volume
        }
    }

    /// `[A-Za-z0-9_.-]{1,64}`.
    package var sceneID: String
    package var arrangement: Arrangement
    /// `nil`: the canvas's.
    package var backgroundColor: Color?
    /// At most one a user.
    package var audioOverrides: [AudioOverride] = []

    package init(_ sceneID: String, _ arrangement: Arrangement) {
        self.sceneID = sceneID
        self.arrangement = arrangement
    }

    /// The panes in file order, with a named layout turned into rectangles. Pure.
    package func resolvedPanes(canvas: Pipeline.Canvas) -> [Pane] {
        switch self.arrangement {
        case .panes(let panes): panes
        case .layout(let layout, let uids): layout.panes(for: uids, canvas: canvas)
        }
    }

    /// The users it names, each once, in file order.
    package var uids: [String] {
        var seen: Set<String> = []
        return switch self.arrangement {
        case .panes(let panes): panes.map(\.source.uid).filter { seen.insert($0).inserted }
        case .layout(_, let uids): uids.filter { seen.insert($0).inserted }
        }
    }
}
