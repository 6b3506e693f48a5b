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
                if let kind = source.fixedKind {
                    mistakes.append(Self.cannotJoin(source.id, kind, path))
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
        for source in before where next.pipeline.source(source.id) == nil {
            guard let kind = source.fixedKind else { continue }
            mistakes.append(
                SpecDiagnostic(
                    path: "sources", at: .none,
                    what:
                        "\(SpecText.quoted(source.id.description)) is \(kind) and cannot be removed while the room runs",
                    fix:
                        "keep it and put a scene without it on air, or drain this worker and start a new one with the new file"
                ))
        }
        return mistakes
    }

    private static func cannotJoin(_ source: SourceID, _ kind: String, _ path: String) -> SpecDiagnostic {
        SpecDiagnostic(
            path: path, at: .none,
            what: "\(SpecText.quoted(source.description)) is \(kind) and cannot be added while the room runs",
            fix:
                "add a source of type rtmp and publish to its key, or drain this worker and start a new one with the new file"
        )
    }
}

extension Pipeline.Source {
    /// Kind of the source in words, if the source cannot be added or removed while the worker runs; `nil` for a
    /// publisher, which can be.
    fileprivate var fixedKind: String? {
        switch self.input {
        case .rtmp: nil
        case .file: "a file source"
        case .pull, .srtPull: "a pull source"
        }
    }

    /// Whether this source differs from `current` only in members that a running room can change.
    fileprivate func differsOnlyAlive(from current: Pipeline.Source) -> Bool {
        var rest = self
        rest.volume = current.volume
        rest.audioTracks = current.audioTracks
        rest.offsetMs = current.offsetMs
        rest.rotation = current.rotation
        rest.expected = current.expected
        rest.record = current.record
        // A source with a key and a source that a signature or a webhook admits use different admission paths.
        if case .rtmp(let keys) = rest.input, case .rtmp(let before) = current.input, keys.isEmpty == before.isEmpty {
            rest.input = current.input
        }
        return rest == current
    }
}

extension Pipeline {
    /// Whether the sources can change from those of `current` while the room runs: only publishers are added or
    /// removed, and remaining sources differ only in members that a running room can change. The order does not matter.
    func sourcesDifferOnlyAlive(from current: Pipeline) -> Bool {
        let joining = self.sources.filter { current.source($0.id) == nil }
        let leaving = current.sources.filter { self.source($0.id) == nil }
        guard (joining + leaving).allSatisfy({ $0.fixedKind == nil }) else { return false }
        return self.sources.allSatisfy { source in
            current.source(source.id).map { source.differsOnlyAlive(from: $0) } ?? true
        }
    }
}
