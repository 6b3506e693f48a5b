import HLS
import MediaTypes

/// What an output does where there is too little space for it.
extension HLSPackager {
    /// Segments that stay listed where there is no space for more.
    package static let fewestSegments = 10

    /// Every playlist lists so many segments at most, not fewer than three target durations of them: the oldest leave, their
    /// files three target durations later. `nil`: what the settings say. An `EVENT` playlist loses none. Callable from any
    /// thread, at any time.
    package func limitWindow(to most: Int?) {
        let isNews = self.intake.withLock { intake in
            guard intake.mostSegments != most, !intake.isOver else { return false }
            intake.mostSegments = most
            intake.isLimitNew = true
            intake.edge?.limit(to: most)
            intake.showEdge()
            return true
        }
        if isNews { self.work.signal() }
    }

    /// Tells the writer of a new limit.
    func applyLimit() -> PublicationWriter.Result {
        let most = self.intake.withLock { intake -> Int?? in
            guard intake.isLimitNew else { return nil }
            intake.isLimitNew = false
            return .some(intake.mostSegments)
        }
        guard let most else { return .done }
        let (result, events) = self.withWriter { $0.limit(to: most) }
        for event in events { self.report(event) }
        return result
    }

    /// Where something could not be written because the store is full: the windows shrink, and what has left them goes at
    /// once. Viewers are told first, so that nobody is shown a file that is gone.
    func makeSpace(after events: [PackagerEvent]) -> PublicationWriter.Result {
        let isFull = events.contains { event in
            if case .outputFailed(let error) = event { error.code == .diskFull } else { false }
        }
        guard isFull, !self.settings.waitsForStore else { return .done }
        self.limitWindow(to: Self.fewestSegments)
        if self.applyLimit() == .superseded { return .superseded }
        let (result, events) = self.withWriter { $0.makeSpace() }
        for event in events { self.report(event) }
        return result
    }
}
