import Control
package import MediaTypes

extension CommandedState {
    /// The content of `commands.json`, if possible at most ``limit`` bytes.
    ///
    /// If it would be longer, then these are left out, in this order: the oldest replies, the oldest used keys, texts,
    /// alarms and clips, unknown members, edits of the document, and scenes that commands have set. Everything else, such
    /// as covers, mutes, kicks, the PK and the room's end, is never left out.
    package var bytes: [UInt8] {
        var state = self
        var bytes = Array(state.json.text().utf8)
        while bytes.count > Self.limit, state.drop(bytes.count - Self.limit) { bytes = Array(state.json.text().utf8) }
        return bytes
    }

    /// Removes the least important remaining part of the state, to save space.
    ///
    /// - Parameter excess: Bytes above the limit.
    /// - Returns: False if nothing that may be removed is left.
    private mutating func drop(_ excess: Int) -> Bool {
        if !self.replies.isEmpty {
            var gone = 0
            let count = self.replies.prefix { reply in
                defer { gone += reply.body.utf8.count }
                return gone < excess
            }.count
            self.replies.removeFirst(max(1, count))
        } else if !self.usedKeys.isEmpty {
            // 40 bytes per key: digest, expiry, quotes and commas.
            self.usedKeys.removeFirst(min(self.usedKeys.count, max(1, excess / 40)))
        } else if !self.texts.isEmpty {
            self.texts = [:]
        } else if !self.alarms.isEmpty || !self.clips.isEmpty {
            (self.alarms, self.clips) = ([], [])
        } else if !self.unknown.isEmpty {
            self.unknown = [:]
        } else if self.document?.edits.isEmpty == false {
            self.document?.edits = []
        } else if self.scenes.contains(where: { $0.value.body != nil }) {
            self.scenes = self.scenes.filter { $0.value.body == nil }
        } else {
            return false
        }
        return true
    }

    /// The state as a JSON object, without absent values and empty lists.
    package var json: JSONNode {
        var root: [JSONMember] = [
            JSONMember("version", .integer(Self.version)), JSONMember("minor", .integer(Self.minor)),
            JSONMember("roomId", .string(self.roomID)), JSONMember("salt", .string(self.salt)),
            JSONMember("incarnation", .number(self.incarnation)), JSONMember("revision", .number(self.revision)),
        ]
        if self.attempts > 0 { root.append(JSONMember("attempts", .integer(self.attempts))) }
        if self.isEnded { root.append(JSONMember("ended", true)) }
        root.add("document", self.document.map { self.json(of: $0) })
        root.add("onAir", self.onAir.map { self.json(of: $0, "onAir") })
        root.add("upcoming", list: self.upcoming.map { self.json(of: $0, Self.path(of: $0)) })
        root.add("scenes", map: self.scenes) { self.json(of: $1, $0) }
        root.add("pk", self.pk.map { self.json(of: $0) })
        root.add(
            "sources",
            list: self.sources.sorted { $0.key.description < $1.key.description }.map { self.json(of: $1, $0) })
        root.add("texts", map: self.texts) { .string($1) }
        root.add("scores", map: self.scores) {
            self.object(
                [JSONMember("left", .integer($1.left)), JSONMember("right", .integer($1.right))], "scores[\($0)]")
        }
        root.add("countdowns", map: self.countdowns) { .number($1) }
        root.add(
            "relays",
            list: self.relays.map { relay in
                self.object(
                    Self.members(relay.source) + [
                        JSONMember("id", .string(relay.id)), JSONMember("url", .string(relay.url)),
                    ], Self.path(of: relay))
            })
        root.add("idleSince", self.idleSince.map { .number($0) })
        root.add("fileMembers", map: self.fileMembers) { .string($1) }
        root.add("alarms", list: self.alarms.map { self.json(of: $0) })
        root.add(
            "clips",
            list: self.clips.map {
                self.object(
                    [
                        JSONMember("id", .string($0.id)), JSONMember("name", .string($0.name)),
                        JSONMember("rendition", .string($0.rendition)),
                        JSONMember("from", .number($0.range.lowerBound)),
                        JSONMember("to", .number($0.range.upperBound)),
                    ], "clips[\($0.id)]")
            })
        root.add("usedKeys", list: self.usedKeys.map { .array([.string($0.digest), .number($0.expiry)]) })
        root.add("replies", list: self.replies.map { self.json(of: $0) })
        return self.object(root, "")
    }

    /// Makes a JSON object of the members and those that this version does not know.
    private func object(_ members: [JSONMember], _ path: String) -> JSONNode {
        .object(members + (self.unknown[path] ?? []))
    }

    private func json(of document: Document) -> JSONNode {
        var members = [JSONMember("revision", .integer(document.revision))]
        members.add(
            "edits",
            list: document.edits.map { edit in
                var members = [JSONMember("path", .array(edit.path.map { .string($0.text) }))]
                members.add("value", edit.value)
                return self.object(members, Self.path(of: edit))
            })
        return self.object(members, "document")
    }

    private func json(of showing: Showing, _ path: String) -> JSONNode {
        var members = [JSONMember("scene", .string(showing.scene)), JSONMember("tick", .number(showing.tick))]
        members.add("ends", map: showing.ends) { .number($1) }
        members.add(
            "transition",
            showing.transition.map { transition in
                self.object(
                    [
                        JSONMember("type", .string(transition.kind.rawValue)),
                        JSONMember("durationMs", .integer(transition.durationMs)),
                        JSONMember("direction", .string(transition.direction.rawValue)),
                    ], "\(path).transition")
            })
        return self.object(members, path)
    }

    private func json(of scene: SceneChange, _ id: String) -> JSONNode {
        var members = [JSONMember("revision", .integer(scene.revision))]
        members.add("body", scene.body)
        if scene.isRemoved { members.append(JSONMember("removed", true)) }
        return self.object(members, "scenes[\(id)]")
    }

    private func json(of pk: PK) -> JSONNode {
        var members = [
            JSONMember("phase", .string(pk.phase.rawValue)), JSONMember("since", .number(pk.since)),
            JSONMember("countdownNs", .number(pk.durations.countdown)),
            JSONMember("durationNs", .number(pk.durations.pk)), JSONMember("punishNs", .number(pk.durations.punish)),
        ]
        members.add("endsAt", pk.endsAt.map { .number($0) })
        if pk.hasStartedItself { members.append(JSONMember("startedItself", true)) }
        members += pk.scenes.members.map { JSONMember($0.name, .string($0.id)) }
        return self.object(members, "pk")
    }

    private func json(of source: Source, _ id: SourceID) -> JSONNode {
        var members = Self.members(id)
        members.add("videoPush", source.videoPush.map { JSONNode(.boolean($0)) })
        members.add("audioPush", source.audioPush.map { JSONNode(.boolean($0)) })
        members.add("volume", source.volume.map { .integer($0) })
        let tracks = Dictionary(source.trackVolumes.map { ("\($0.key)", $0.value) }) { first, _ in first }
        members.add("trackVolumes", map: tracks) { .integer($1) }
        members.add("offsetMs", source.offsetMs.map { .integer($0) })
        members.add("rotation", source.rotation.map { .integer($0) })
        members.add("recording", source.recording.map { JSONNode(.boolean($0)) })
        members.add("refusedUntil", source.refusedUntil.map { .number($0) })
        members.add("graceUntil", source.graceUntil.map { .number($0) })
        return self.object(members, Self.path(of: id))
    }

    private static func members(_ source: SourceID) -> [JSONMember] {
        [
            JSONMember("uid", .string(source.uid)), JSONMember("streamType", .string(source.streamType.rawValue)),
        ]
    }

    private func json(of entry: Alarm) -> JSONNode {
        var members = [
            JSONMember("id", .string(entry.id)), JSONMember("type", .string(entry.alarm.type)),
            JSONMember("severity", .string(entry.alarm.severity)), JSONMember("kind", .string(entry.alarm.kind)),
            JSONMember("message", .string(entry.alarm.message)), JSONMember("setAt", .number(entry.setAt)),
        ]
        members.add("subject", entry.alarm.subject.map { .string($0) })
        return self.object(members, "alarms[\(entry.id)]")
    }

    private func json(of reply: KeptReply) -> JSONNode {
        var members = [
            JSONMember("key", .string(reply.key)), JSONMember("fingerprint", .string(reply.fingerprint)),
            JSONMember("status", .integer(reply.status)), JSONMember("body", .string(reply.body)),
        ]
        members.add("etag", reply.entityTag.map { .string($0) })
        members.add("contentType", reply.contentType.map { .string($0) })
        return self.object(members, "replies[\(reply.key)]")
    }
}

extension JSONNode {
    fileprivate static func number(_ value: Int64) -> JSONNode { JSONNode(.integer(value)) }
}

extension [JSONMember] {
    fileprivate mutating func add(_ key: String, _ value: JSONNode?) {
        if let value { self.append(JSONMember(key, value)) }
    }

    fileprivate mutating func add(_ key: String, list: [JSONNode]) {
        if !list.isEmpty { self.append(JSONMember(key, .array(list))) }
    }

    /// Adds a JSON object with the entries sorted by name, so that equal states give equal text.
    fileprivate mutating func add<Value>(_ key: String, map: [String: Value], _ node: (String, Value) -> JSONNode) {
        if map.isEmpty { return }
        let entries = map.sorted { $0.key < $1.key }.map { JSONMember($0.key, node($0.key, $0.value)) }
        self.append(JSONMember(key, .object(entries)))
    }
}
