import Origin
import Packager

extension RoomState {
    /// What the viewers' page says about the room.
    ///
    /// - Parameter packager: nil if the room has no HLS output.
    func viewerStatus(_ packager: HLSPackager?) -> ViewerStatus {
        let isPlayable = self.lifecycle.isPlayable(hasPackager: packager != nil) || packager?.hasPublishedBefore == true
        return ViewerStatus(
            self.viewerState(isPlayable: isPlayable), isPlayable: isPlayable, programStart: self.lifecycle.origin)
    }

    /// The room's state as viewers see it.
    ///
    /// - Parameter isPlayable: Whether this worker or an earlier one has published media that viewers can play.
    private func viewerState(isPlayable: Bool) -> ViewerStatus.State {
        let facts = self.status.facts
        switch self.status.phase.state {
        case .closed: return self.lifecycle.outcome?.hasEnded == true ? .ended : .interrupted
        case .failed: return .interrupted
        case .live, .degraded, .ending, .draining: return isPlayable ? .live : .starting
        case .recovering: return facts.hasMedia ? .live : facts.hasPublisher ? .interrupted : .left
        // A successor has not started its program yet: the earlier worker's publishers are expected back.
        case .starting, .waiting, .preparing:
            return isPlayable ? .interrupted : facts.hasPublisher ? .starting : .waiting
        }
    }
}
