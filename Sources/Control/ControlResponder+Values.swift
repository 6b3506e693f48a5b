import MediaTypes

/// Commands whose bodies contain a few plain values.
extension ControlResponder {
    /// Allowed time offsets of a source, in milliseconds.
    private static let offsetRange = -10_000...10_000
    /// Largest length of a text in Unicode scalars.
    private static let textLimit = 256

    func setSource(_ uid: String, streamType: String?, _ body: [UInt8]) throws(ControlFailure) -> String {
        let keys = ["volume", "audioTrack", "audioPush", "videoPush", "offsetMs", "rotation", "streamType"]
        let values = try FlatObject(body: body, keys: keys)
        var change = SourceChange()
        change.volume = try values.integer("volume", in: Self.volumeRange)
        change.audioTrack = try values.integer("audioTrack", in: 0...255)
        change.audioPush = try values.bool("audioPush")
        change.videoPush = try values.bool("videoPush")
        change.offsetMs = try values.integer("offsetMs", in: Self.offsetRange)
        change.rotation = try values.integer("rotation", in: 0...270)
        let named = try values.string("streamType")
        if let turn = change.rotation, !turn.isMultiple(of: 90) {
            throw .invalidFormat("\"rotation\" is \(turn)", fix: "use 0, 90, 180 or 270", status: 422)
        }
        if change.audioTrack != nil, change.volume == nil {
            throw .invalidFormat("\"audioTrack\" needs a \"volume\"", fix: "send the \"volume\" of that track with it")
        }
        if let named, let streamType, named != streamType {
            throw .invalidFormat(
                "the query and the body have different values of \"streamType\"", fix: "send streamType only once",
                status: 422)
        }
        guard change != SourceChange() else {
            let words = keys.dropLast().map { "\"\($0)\"" }.joined(separator: ", ")
            throw .invalidFormat("the body changes nothing", fix: "send one of \(words)")
        }
        let type = named ?? streamType ?? Self.defaultStreamType
        try self.room.setSource(uid: uid, streamType: type, change)
        var members: [JSONValue.Member] = [.init("uid", .string(uid)), .init("streamType", .string(type))]
        if let volume = change.volume { members.append(.init("volume", JSONValue(volume))) }
        if let track = change.audioTrack { members.append(.init("audioTrack", JSONValue(track))) }
        if let audioPush = change.audioPush { members.append(.init("audioPush", .bool(audioPush))) }
        if let videoPush = change.videoPush { members.append(.init("videoPush", .bool(videoPush))) }
        if let offset = change.offsetMs { members.append(.init("offsetMs", JSONValue(offset))) }
        if let rotation = change.rotation { members.append(.init("rotation", JSONValue(rotation))) }
        return JSONValue.object(members).text
    }

    func playOverlay(_ name: String, _ body: [UInt8]) throws(ControlFailure) -> String {
        let values = try FlatObject(body: body, keys: ["x", "y", "width", "height", "loops", "volume"])
        var options = OverlayOptions()
        options.x = try values.integer("x", in: 0...1918)
        options.y = try values.integer("y", in: 0...1918)
        options.width = try values.integer("width", in: 2...1920)
        options.height = try values.integer("height", in: 2...1920)
        options.loops = try values.integer("loops", in: 1...100)
        options.volume = try values.integer("volume", in: Self.volumeRange)
        return try self.room.playOverlay(name, options)
    }

    func setText(_ id: String, _ body: [UInt8]) throws(ControlFailure) -> String {
        guard let text = try FlatObject(body: body, keys: ["text"]).string("text") else {
            throw .invalidFormat("the body has no text", fix: "send {\"text\":\"…\"}; \"\" shows nothing")
        }
        guard text.unicodeScalars.count <= Self.textLimit, !text.unicodeScalars.contains(where: { $0.value < 0x20 })
        else {
            throw .invalidFormat(
                "\"text\" is too long or contains control characters",
                fix: "send one line of up to \(Self.textLimit) characters", status: 422)
        }
        return try self.room.sceneControl.setText(id, text)
    }

    func setScore(_ id: String, _ body: [UInt8]) throws(ControlFailure) -> String {
        let values = try FlatObject(body: body, keys: ["left", "right"])
        let left = try values.integer("left", in: 0...1_000_000_000)
        let right = try values.integer("right", in: 0...1_000_000_000)
        guard left != nil || right != nil else {
            throw .invalidFormat("the body changes nothing", fix: "send \"left\", \"right\" or both")
        }
        return try self.room.sceneControl.setScore(id, left: left, right: right)
    }

    func setCountdown(_ id: String, _ body: [UInt8]) throws(ControlFailure) -> String {
        let values = try FlatObject(body: body, keys: ["seconds", "endsAt"])
        switch (try values.integer("seconds", in: 0...86_400), try values.string("endsAt")) {
        case (let seconds?, nil): return try self.room.sceneControl.setCountdown(id, .seconds(seconds))
        case (nil, let date?): return try self.room.sceneControl.setCountdown(id, .date(date))
        default:
            throw .invalidFormat(
                "the body must contain exactly one of \"seconds\" and \"endsAt\"",
                fix: "send \"seconds\" from now, or \"endsAt\", a program date-time such as 2026-01-31T20:00:00.000Z")
        }
    }
}
