import MediaTypes

/// Behavior of an output when disk space runs out.
extension HLSPackager {
    /// Maximum number of listed segments when the disk is full; see ``limitWindow(to:)``.
    package static let fewestSegments = 10

    /// Limits the number of listed segments in every playlist, but never to less than three target durations; `nil`
    /// removes the limit. The oldest segments are unlisted. While the limit is set, their files are deleted after three
    /// target durations. `EVENT` playlists are not affected. Callable from any thread, at any time.
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

    /// Passes a new limit of listed segments to the writer.
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

    /// Frees space if a write failed because the disk is full, except in offline jobs: shortens the playlists and
    /// deletes unlisted segments at once. Viewers get the new playlists first, so that no playlist lists a deleted
    /// file.
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
