import Control
import MediaTypes
import PipelineSpec
import RoomScenes

extension CommandedState {
    /// The result of reading `commands.json`.
    package struct Reading: Sendable {
        package var state: CommandedState
        /// Paths of the members that could not be read and were skipped; 64 at most.
        package var problems: [String]
    }

    /// Reads the content of `commands.json`. Never traps; invalid members are skipped and reported.
    ///
    /// - Returns: nil if the bytes are not a JSON object, have another major version, or are larger than 512 KiB.
    package static func read(_ bytes: [UInt8]) -> Reading? {
        guard bytes.count <= 2 * Self.limit, let root = JSONParser.parse(bytes).root,
            root[key: "version"]?.integer == Int64(Self.version)
        else { return nil }
        var reader = CommandedReader()
        var state = CommandedState(
            roomID: reader.text(root, "roomId", "") ?? "", salt: reader.text(root, "salt", "") ?? "")
        reader.keepUnknown(of: root, "", known: Self.rootKeys)
        state.readRoot(root, &reader)
        state.readProgram(root, &reader)
        state.readSources(root, &reader)
        state.readMemory(root, &reader)
        state.unknown = reader.unknown
        return Reading(state: state, problems: reader.problems)
    }

    static let rootKeys = [
        "version", "minor", "roomId", "salt", "incarnation", "attempts", "revision", "ended", "document", "onAir",
        "upcoming", "scenes", "pk", "sources", "texts", "scores", "countdowns", "relays", "idleSince", "alarms",
        "clips", "replies", "usedKeys", "fileMembers",
    ]

    private mutating func readRoot(_ root: JSONNode, _ reader: inout CommandedReader) {
        self.incarnation = reader.number(root, "incarnation", "") ?? 0
        self.attempts = reader.integer(root, "attempts", "", in: 0...1_000_000) ?? 0
        self.revision = reader.number(root, "revision", "", in: 1...Int64.max / 2) ?? 1
        self.isEnded = reader.flag(root, "ended", "") ?? false
        self.idleSince = reader.number(root, "idleSince", "")
        for member in reader.entries(root, "fileMembers", "") {
            if let hash = member.value.string {
                self.fileMembers[member.key] = hash
            } else {
                reader.fail("fileMembers[\(member.key)]")
            }
        }
        guard let node = reader.object(root, "document", "") else { return }
        reader.keepUnknown(of: node, "document", known: ["revision", "edits"])
        var document = Document(revision: 0, edits: [])
        document.revision = reader.integer(node, "revision", "document", in: 0...9_007_199_254_740_991) ?? 0
        for (index, edit) in reader.elements(node, "edits", "document").enumerated() {
            let path = reader.elements(edit, "path", "document.edits[\(index)]").compactMap { $0.string }
            guard !path.isEmpty, path.count <= 32 else {
                reader.fail("document.edits[\(index)]")
                continue
            }
            let read = DocumentEdit(path.map { .init(text: $0) }, edit[key: "value"]?.bare)
            reader.keepUnknown(of: edit, Self.path(of: read), known: ["path", "value"])
            document.edits.append(read)
        }
        self.document = document
    }

    // MARK: Program

    private mutating func readProgram(_ root: JSONNode, _ reader: inout CommandedReader) {
        if let node = reader.object(root, "onAir", "") { self.onAir = Self.showing(node, "onAir", &reader) }
        for (index, node) in reader.elements(root, "upcoming", "").prefix(1_024).enumerated() {
            let path = "upcoming[\(index)]"
            guard let showing = Self.showing(node, path, &reader) else { continue }
            // When a scene goes on air, its entry leaves the list and the indexes change. Therefore the paths name the
            // scene and its tick.
            reader.moveUnknown(from: path, to: Self.path(of: showing))
            reader.moveUnknown(from: "\(path).transition", to: "\(Self.path(of: showing)).transition")
            self.upcoming.append(showing)
        }
        for member in reader.entries(root, "scenes", "") {
            let path = "scenes[\(member.key)]"
            guard let revision = reader.integer(member.value, "revision", path, in: 0...9_007_199_254_740_991) else {
                reader.fail(path)
                continue
            }
            reader.keepUnknown(of: member.value, path, known: ["revision", "body", "removed"])
            self.scenes[member.key] = SceneChange(
                revision: revision, body: reader.object(member.value, "body", path)?.bare,
                isRemoved: reader.flag(member.value, "removed", path) ?? false)
        }
        if let node = reader.object(root, "pk", "") { self.readPK(node, &reader) }
        for member in reader.entries(root, "texts", "") {
            if let text = member.value.string {
                self.texts[member.key] = text
            } else {
                reader.fail("texts[\(member.key)]")
            }
        }
        for member in reader.entries(root, "scores", "") {
            let path = "scores[\(member.key)]"
            guard let left = reader.integer(member.value, "left", path, in: 0...1_000_000_000),
                let right = reader.integer(member.value, "right", path, in: 0...1_000_000_000)
            else { continue }
            reader.keepUnknown(of: member.value, path, known: ["left", "right"])
            self.scores[member.key] = Score(left: left, right: right)
        }
        self.countdowns = reader.numbers(root, "countdowns", "")
    }

    private static func showing(_ node: JSONNode, _ path: String, _ reader: inout CommandedReader) -> Showing? {
        guard let scene = reader.text(node, "scene", path), let tick = reader.number(node, "tick", path) else {
            reader.fail(path)
            return nil
        }
        reader.keepUnknown(of: node, path, known: ["scene", "tick", "ends", "transition"])
        var showing = Showing(scene: scene, tick: tick, ends: reader.numbers(node, "ends", path))
        if let made = reader.object(node, "transition", path),
            let kind = reader.choice(made, "type", "\(path).transition", as: Transition.Kind.self)
        {
            var transition = Transition(kind)
            transition.durationMs =
                reader.integer(made, "durationMs", "\(path).transition", in: 100...5_000) ?? transition.durationMs
            transition.direction =
                reader.choice(made, "direction", "\(path).transition") ?? transition.direction
            reader.keepUnknown(of: made, "\(path).transition", known: ["type", "durationMs", "direction"])
            showing.transition = transition
        }
        return showing
    }

    private mutating func readPK(_ node: JSONNode, _ reader: inout CommandedReader) {
        guard let phase = reader.choice(node, "phase", "pk", as: PKStateMachine.Phase.self) else {
            return reader.fail("pk")
        }
        reader.keepUnknown(of: node, "pk", known: Self.pkKeys)
        let durations = PKStateMachine.Durations(
            countdown: reader.number(node, "countdownNs", "pk") ?? 0, pk: reader.number(node, "durationNs", "pk") ?? 0,
            punish: reader.number(node, "punishNs", "pk") ?? 0)
        self.pk = PK(
            phase: phase, since: reader.number(node, "since", "pk") ?? 0, endsAt: reader.number(node, "endsAt", "pk"),
            durations: durations, hasStartedItself: reader.flag(node, "startedItself", "pk") ?? false,
            scenes: SceneSelector.PK.Scenes(
                scene: reader.text(node, "scene", "pk"), countdownScene: reader.text(node, "countdownScene", "pk"),
                punishScene: reader.text(node, "punishScene", "pk"), endScene: reader.text(node, "endScene", "pk")))
    }

    private static let pkKeys = [
        "phase", "since", "endsAt", "countdownNs", "durationNs", "punishNs", "startedItself", "scene",
        "countdownScene", "punishScene", "endScene",
    ]

    // MARK: Sources

    private static let sourceKeys = [
        "uid", "streamType", "videoPush", "audioPush", "volume", "trackVolumes", "offsetMs", "rotation",
        "recording", "refusedUntil", "graceUntil",
    ]

    private mutating func readSources(_ root: JSONNode, _ reader: inout CommandedReader) {
        for (index, node) in reader.elements(root, "sources", "").enumerated() {
            guard let id = reader.source(node, "sources[\(index)]") else {
                reader.fail("sources[\(index)]")
                continue
            }
            let path = Self.path(of: id)
            reader.keepUnknown(of: node, path, known: Self.sourceKeys)
            var source = Source()
            source.videoPush = reader.flag(node, "videoPush", path)
            source.audioPush = reader.flag(node, "audioPush", path)
            source.volume = reader.integer(node, "volume", path, in: 0...200)
            for (track, volume) in reader.numbers(node, "trackVolumes", path, in: 0...200) {
                guard let number = Int(track), (0...255).contains(number) else {
                    reader.fail("\(path).trackVolumes[\(track)]")
                    continue
                }
                source.trackVolumes[number] = Int(volume)
            }
            source.offsetMs = reader.integer(node, "offsetMs", path, in: -10_000...10_000)
            source.rotation = reader.integer(node, "rotation", path, in: 0...270)
            if source.rotation?.isMultiple(of: 90) == false {
                source.rotation = nil
                reader.fail("\(path).rotation")
            }
            source.recording = reader.flag(node, "recording", path)
            source.refusedUntil = reader.number(node, "refusedUntil", path)
            source.graceUntil = reader.number(node, "graceUntil", path)
            if source != Source() || reader.unknown[path] != nil { self.sources[id] = source }
        }
        for (index, node) in reader.elements(root, "relays", "").prefix(1_024).enumerated() {
            let path = "relays[\(index)]"
            guard let source = reader.source(node, path), let id = reader.text(node, "id", path),
                let url = reader.text(node, "url", path)
            else {
                reader.fail(path)
                continue
            }
            let relay = Relay(source: source, id: id, url: url)
            reader.keepUnknown(of: node, Self.path(of: relay), known: ["uid", "streamType", "id", "url"])
            self.relays.append(relay)
        }
    }

    // MARK: Paths of unknown members of list elements

    static func path(of source: SourceID) -> String { "sources[\(source)]" }
    static func path(of edit: DocumentEdit) -> String { "document.edits[\(edit.name)]" }
    static func path(of showing: Showing) -> String { "upcoming[\(showing.scene) at \(showing.tick)]" }
    static func path(of relay: Relay) -> String { "relays[\(relay.source)/\(relay.id)]" }

    // MARK: Replies, alarms and clips

    private static let replyKeys = ["key", "fingerprint", "status", "etag", "contentType", "body"]
    private static let alarmKeys = ["id", "type", "severity", "kind", "subject", "message", "setAt"]

    private mutating func readMemory(_ root: JSONNode, _ reader: inout CommandedReader) {
        for (index, node) in reader.elements(root, "replies", "").enumerated() {
            let path = "replies[\(index)]"
            guard let key = reader.text(node, "key", path), let print = reader.text(node, "fingerprint", path),
                let status = reader.integer(node, "status", path, in: 200...599)
            else {
                reader.fail(path)
                continue
            }
            reader.keepUnknown(of: node, "replies[\(key)]", known: Self.replyKeys)
            self.replies.append(
                KeptReply(
                    key: key, fingerprint: print, status: status, entityTag: reader.text(node, "etag", path),
                    contentType: reader.text(node, "contentType", path), body: reader.text(node, "body", path) ?? ""))
        }
        for (index, node) in reader.elements(root, "usedKeys", "").enumerated() {
            guard case .array(let pair) = node.content, pair.count == 2, let digest = pair[0].string,
                let expiry = pair[1].integer
            else {
                reader.fail("usedKeys[\(index)]")
                continue
            }
            self.usedKeys.append(UsedKey(digest: digest, expiry: expiry))
        }
        for (index, node) in reader.elements(root, "alarms", "").prefix(256).enumerated() {
            let path = "alarms[\(index)]"
            guard let id = reader.text(node, "id", path), let type = reader.text(node, "type", path),
                let severity = reader.text(node, "severity", path), let kind = reader.text(node, "kind", path)
            else {
                reader.fail(path)
                continue
            }
            reader.keepUnknown(of: node, "alarms[\(id)]", known: Self.alarmKeys)
            self.alarms.append(
                Alarm(
                    id: id,
                    alarm: ActiveAlarms.Alarm(
                        type, severity, kind: kind, subject: reader.text(node, "subject", path),
                        message: reader.text(node, "message", path) ?? ""),
                    setAt: reader.number(node, "setAt", path) ?? 0))
        }
        for (index, node) in reader.elements(root, "clips", "").prefix(64).enumerated() {
            let path = "clips[\(index)]"
            guard let id = reader.text(node, "id", path), let name = reader.text(node, "name", path),
                let rendition = reader.text(node, "rendition", path), let from = reader.number(node, "from", path),
                let to = reader.number(node, "to", path), from <= to
            else {
                reader.fail(path)
                continue
            }
            reader.keepUnknown(of: node, "clips[\(id)]", known: ["id", "name", "rendition", "from", "to"])
            self.clips.append(Clip(id: id, name: name, rendition: rendition, range: from..<to))
        }
    }
}
