package import LibAV
package import MediaTypes
import Synchronization

/// Frame reduction for a machine that cannot keep up. Ticks, audio and the output frame rate do not change.
extension ProgramStage {
    /// How much the program reduces frames.
    package enum OverloadFrameMode: Int, Sendable {
        /// No reduction.
        case none
        /// The canvas of every second tick repeats the previous one, unless the scene or the hidden sources change.
        case half
        /// The canvas is held. It changes only when a scene comes on air (always as a cut), or when a command hides or
        /// shows a source; of all sources only the key frames are decoded.
        case hold
    }

    /// Sets the frame reduction from the next tick on. May be called from any thread.
    package func setFrameMode(_ mode: OverloadFrameMode) {
        self.frameModeValue.store(mode.rawValue, ordering: .relaxed)
    }

    var frameMode: OverloadFrameMode {
        OverloadFrameMode(rawValue: self.frameModeValue.load(ordering: .relaxed)) ?? .none
    }

    /// Whether the canvas of a tick may repeat the previous one.
    func repeatsPicture(at tick: Int64) -> Bool {
        switch self.frameMode {
        case .none: false
        // Renditions at half the frame rate use the even ticks.
        case .half: tick % 2 != 0
        case .hold: true
        }
    }

    /// Whether every pane of the scene on air that shows the source's video scales the shown part of the frame down to
    /// fewer than two thirds of its samples (pixels); `false` if no pane shows the source.
    package func isOversized(_ source: SourceID, _ format: PictureFormat) -> Bool {
        let panes = self.scene.visiblePanes.filter { $0.source == source }
        return !panes.isEmpty
            && panes.allSatisfy { pane in
                let placed = PanePlacement(pane, format)
                return placed.visible.area * 2 > placed.rect.area * 3
            }
    }
}
