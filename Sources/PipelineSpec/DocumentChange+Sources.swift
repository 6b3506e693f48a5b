import MediaTypes

/// Compares the sources of two documents. Sources are matched by their ids; their order in the list does not matter.
extension DocumentChange {
    /// Reports sources that cannot be added, removed or changed while the room runs. Sources are matched by id, because
    /// adding a source to the list shifts the indexes of later sources.
    static func sourceMistakes(from current: RoomDocument, to next: RoomDocument) -> [SpecDiagnostic] {
        let (before, after) = (current.pipeline.sources, next.pipeline.sources)
        var mistakes: [SpecDiagnostic] = []
        for (index, source) in after.enumerated() {
            let path = "sources[\(index)]"
            guard let place = before.firstIndex(where: { $0.id == source.id }) else {
                if next.pipeline.clock == .offline {
                    mistakes.append(Self.remedy(path, "cannot be added, because the clock is offline"))
                }
                continue
            }
            guard !source.differsOnlyAlive(from: before[place]) else { continue }
            let (one, other) = (next.effective["sources", index], current.effective["sources", place])
            let paths = one.flatMap { one in other.map { one.differences(from: $0, at: path) } } ?? []
            let refused = paths.filter { path in !Self.alive.contains { Self.isPart(path, of: $0) } }
            // If only keys differ, then the source changes between having a stream key and being admitted without one.
            mistakes += (refused.isEmpty ? paths : refused).map { Self.remedy($0) }
        }
        for source in before where next.pipeline.source(source.id) == nil && next.pipeline.clock == .offline {
            mistakes.append(
                Self.remedy(
                    "sources",
                    "\(SpecText.quoted(source.id.description)) cannot be removed, because the clock is offline"))
        }
        return mistakes
    }
}

extension Pipeline.Source {
    /// Whether this source differs from `current` only in members that a running room can change.
    fileprivate func differsOnlyAlive(from current: Pipeline.Source) -> Bool {
        var rest = self
        rest.volume = current.volume
        rest.audioTracks = current.audioTracks
        rest.offsetMs = current.offsetMs
        rest.rotation = current.rotation
        rest.expected = current.expected
        rest.record = current.record
        rest.audio = current.audio
        (rest.background, rest.fadeMs) = (current.background, current.fadeMs)
        // A source with a key and a source that a signature or a webhook admits use different admission paths.
        if case .rtmp(let keys) = rest.input, case .rtmp(let before) = current.input, keys.isEmpty == before.isEmpty {
            rest.input = current.input
        }
        return rest == current
    }
}

extension Pipeline {
    /// Whether the sources can change from those of `current` while the room runs: sources are added or removed only if
    /// the clock is live, and remaining sources differ only in members that a running room can change. The order does
    /// not matter.
    func sourcesDifferOnlyAlive(from current: Pipeline) -> Bool {
        if current.clock == .offline, Set(self.sources.map(\.id)) != Set(current.sources.map(\.id)) { return false }
        return self.sources.allSatisfy { source in
            current.source(source.id).map { source.differsOnlyAlive(from: $0) } ?? true
        }
    }
}
