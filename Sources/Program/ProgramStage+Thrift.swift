package import LibAV
package import MediaTypes
import Synchronization

/// What the program leaves out on a machine that cannot keep up. Its ticks, its sound and its frame rate stay.
extension ProgramStage {
    package enum PictureThrift: Int, Sendable {
        case none
        /// Every second canvas is the one before.
        case half
        /// The canvas is held, but where a scene comes on air, by a cut, or a source is covered; no source is decoded for it.
        case hold
    }

    /// From any thread; counts from the next tick on.
    package func setPictureThrift(_ thrift: PictureThrift) { self.thrift.store(thrift.rawValue, ordering: .relaxed) }

    var pictureThrift: PictureThrift { PictureThrift(rawValue: self.thrift.load(ordering: .relaxed)) ?? .none }

    /// Whether the canvas of a tick may be the one before.
    func repeatsPicture(at tick: Int64) -> Bool {
        switch self.pictureThrift {
        case .none: false
        // Renditions at half the frame rate have the even ticks.
        case .half: tick % 2 != 0
        case .hold: true
        }
    }

    /// Whether the source is shown in at most two thirds of the samples it comes with.
    package func isOversized(_ source: SourceID, _ format: PictureFormat) -> Bool {
        let panes = self.scene.visiblePanes.filter { $0.source == source }
        return !panes.isEmpty
            && panes.allSatisfy { pane in
                let placed = PanePlacement(pane, format)
                return placed.visible.area * 2 > placed.rect.area * 3
            }
    }
}
