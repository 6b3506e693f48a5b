import MediaTypes

/// Sources are told apart by their ids: where they stand in their list means nothing.
extension DocumentChange {
    /// Sources that cannot join, leave or change, each by its id: one more in the list moves the places of the others.
    static func sourceMistakes(from current: RoomDocument, to next: RoomDocument) -> [SpecMistake] {
        let (before, after) = (current.pipeline.sources, next.pipeline.sources)
        var mistakes: [SpecMistake] = []
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
            // Keys alone: one that has a key becomes one that is let in without, or the other way round.
            mistakes += (refused.isEmpty ? paths : refused).map { Self.remedy($0) }
        }
        for source in before where next.pipeline.source(source.id) == nil {
            guard let kind = source.fixedKind else { continue }
            mistakes.append(
                SpecMistake(
                    path: "sources", at: .none,
                    what: "\(SpecText.quoted(source.id.description)) is \(kind), and cannot leave while the room runs",
                    fix: "leave it, and put a scene without it on air, or drain this worker and run the new file"))
        }
        return mistakes
    }

    private static func cannotJoin(_ source: SourceID, _ kind: String, _ path: String) -> SpecMistake {
        SpecMistake(
            path: path, at: .none,
            what: "\(SpecText.quoted(source.description)) is \(kind), and cannot join while the room runs",
            fix: "add a source of the type rtmp and publish to its key, or drain this worker and run the new file")
    }
}

extension Pipeline.Source {
    /// What it is, where that begins and ends with its worker; `nil`: a publisher, who may come and go.
    fileprivate var fixedKind: String? {
        switch self.input {
        case .rtmp: nil
        case .file: "a file"
        case .pull, .srtPull: "fetched"
        }
    }

    /// Whether all that differs is what a running room takes.
    fileprivate func differsOnlyAlive(from current: Pipeline.Source) -> Bool {
        var rest = self
        rest.volume = current.volume
        rest.audioTracks = current.audioTracks
        rest.offsetMs = current.offsetMs
        rest.rotation = current.rotation
        rest.expected = current.expected
        // One that has a key and one that a signature or a webhook lets in are admitted in different ways.
        if case .rtmp(let keys) = rest.input, case .rtmp(let before) = current.input, keys.isEmpty == before.isEmpty {
            rest.input = current.input
        }
        return rest == current
    }
}

extension Pipeline {
    /// Whether publishers alone come and go, and the others differ by what a running room takes, in whatever order.
    func sourcesDifferOnlyAlive(from current: Pipeline) -> Bool {
        let joining = self.sources.filter { current.source($0.id) == nil }
        let leaving = current.sources.filter { self.source($0.id) == nil }
        guard (joining + leaving).allSatisfy({ $0.fixedKind == nil }) else { return false }
        return self.sources.allSatisfy { source in
            current.source(source.id).map { source.differsOnlyAlive(from: $0) } ?? true
        }
    }
}
