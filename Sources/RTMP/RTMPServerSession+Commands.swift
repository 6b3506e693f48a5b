/// Handles the client's commands. Clients send them in any order and wait for the answers.
///
/// Spec: RTMP 1.0 §7.2. From `connect` on, every call with a transaction id is answered, with `_result`, `_error` or
/// `onStatus`: some clients have a separate timer for each.
extension RTMPServerSession {
    mutating func received(command message: RTMPMessage, now: Int64) throws(RTMPFailure) {
        var fault: AMF0Reader.Fault?
        let parsed = RTMPCommand(message, depth: self.configuration.limits.amfDepth, fault: &fault)
        if fault != nil { self.ownQuirks.insert(.malformedAMF) }
        guard let command = parsed else { return }
        if command.name == "connect" {
            try self.connect(command)
            return
        }
        // Commands before `connect` are ignored; the setup deadline ends a client that never sends it.
        guard self.state != .connecting else { return }
        switch command.name {
        case "releaseStream": self.result(of: command, .undefined)
        case "FCPublish":
            self.fcPublishTransaction = command.transaction
            self.result(of: command, .undefined)
        case "createStream": try self.createStream(command)
        case "publish": self.publish(command, streamID: message.streamID, now: now)
        case "FCUnpublish": self.fcUnpublish(command, on: message.streamID, now: now)
        case "closeStream": self.closeStream(message.streamID, now: now)
        case "deleteStream": self.deleteStream(command, now: now)
        case "_checkbw": self.result(of: command, .number(0))
        case "play", "play2":
            let text = "This server only accepts streams; it does not play them."
            self.status(PublishRefusal(code: "NetStream.Play.Failed", text: text), details: "")
        case "_result", "_error", "onStatus": break
        default: self.result(of: command, .null)
        }
    }

    /// Returns whether `id` was assigned to a stream other than the publishing one. If it was, a command that closes it
    /// does not end the publication.
    private func isOther(id: UInt32) -> Bool {
        id >= 1 && id <= UInt32(clamping: self.createdStreams) && id != self.publishStreamID
    }

    /// Returns whether `key` is the stream name of the previous publication and differs from the current one.
    private func isEarlier(_ key: AMF0Value?) -> Bool {
        guard let key = key?.string else { return false }
        return key == self.earlierName && key != self.publishName
    }

    private mutating func connect(_ command: RTMPCommand) throws(RTMPFailure) {
        guard self.state == .connecting else { throw .protocolViolation(.secondConnect) }
        if let refusal = self.connectRefusal {
            self.respond(
                RTMPCommand(
                    "_error", transaction: command.transaction,
                    [.null, self.information("error", refusal.code, refusal.text)]))
            throw .refused(refusal)
        }
        let object = command.argument(0)
        self.tcURL = (object?["tcUrl"] ?? object?["tcurl"])?.string ?? ""
        self.flashVersion = RTMPServerSession.line(object?["flashVer"]?.string ?? "")
        guard let app = object?["app"]?.string ?? RTMPServerSession.path(of: self.tcURL) else {
            self.respond(
                RTMPCommand(
                    "_error", transaction: command.transaction,
                    [.null, self.information("error", "NetConnection.Connect.Rejected", "`connect` names no app.")]))
            throw .protocolViolation(.connectWithoutApp)
        }
        self.app = app
        self.state = .connected
        self.control(.windowAcknowledgementSize, 2_500_000)
        self.write(.setPeerBandwidth, RTMPServerSession.bytes(2_500_000) + [2])
        self.control(.setChunkSize, UInt32(clamping: self.configuration.chunkSize))
        self.writer.chunkSize = self.configuration.chunkSize
        self.capabilities = EnhancedCapabilities(object)
        // Announced only to clients that announce Enhanced RTMP: old encoders reject unknown properties in this answer.
        let enhanced =
            self.capabilities.isSpoken
            ? EnhancedCapabilities(
                codecs: self.configuration.codecs, extensions: [.reconnect, .multitrack, .modifiers, .nanoseconds]
            ).properties(use: 1) : []
        let properties = AMF0Value.object(
            [
                AMF0Property("fmsVer", .string("FMS/3,5,7,7009")), AMF0Property("capabilities", .number(31)),
                AMF0Property("mode", .number(1)),
            ] + enhanced)
        let status = AMF0Value.object(
            [
                AMF0Property("level", .string("status")),
                AMF0Property("code", .string("NetConnection.Connect.Success")),
                AMF0Property("description", .string("Connection succeeded.")),
                AMF0Property("objectEncoding", .number(0)),
            ] + enhanced)
        self.respond(RTMPCommand("_result", transaction: command.transaction, [properties, status]))
    }

    /// Maximum number of Unicode scalars kept of an encoder's name.
    private static let longestLine = 128

    /// Makes text safe for logs and states: one line without control characters, with a limited number of scalars.
    private static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        return String(String.UnicodeScalarView(scalars.prefix(self.longestLine)))
    }

    private static func path(of tcURL: String) -> String? {
        guard let scheme = tcURL.firstRange(of: "://"),
            let slash = tcURL[scheme.upperBound...].firstIndex(of: "/")
        else { return nil }
        return String(tcURL[tcURL.index(after: slash)...])
    }

    private mutating func createStream(_ command: RTMPCommand) throws(RTMPFailure) {
        self.createdStreams += 1
        self.openStreams.insert(UInt32(clamping: self.createdStreams))
        guard self.openStreams.count <= self.configuration.limits.createdStreams else { throw .limit(.createdStreams) }
        self.respond(
            RTMPCommand("_result", transaction: command.transaction, [.null, .number(Double(self.createdStreams))]))
    }

    private mutating func publish(_ command: RTMPCommand, streamID: UInt32, now: Int64) {
        if self.state == .publishing {
            self.status(.busy, details: "", streamID: streamID == 0 ? nil : streamID)
            return
        }
        if self.createdStreams == 0 { self.ownQuirks.insert(.publishWithoutCreateStream) }
        // The answer must carry the stream id that the client got, or HaishinKit does not recognize it.
        self.publishStreamID = streamID != 0 ? streamID : UInt32(max(1, self.createdStreams))
        guard let name = command.argument(1)?.string,
            let address = StreamAddress(app: self.app, streamName: name)
        else {
            self.deny(.denied)
            return
        }
        self.publishName = name
        self.requests += 1
        self.awaitDecision(now: now)
        self.actions.append(
            .publishRequested(
                PublishRequest(
                    id: self.requests, address: address, tcURL: self.tcURL, flashVersion: self.flashVersion)))
    }

    /// Confirms the publication to the client: sends StreamBegin, `onFCPublish` if the client sent FCPublish with a
    /// transaction id, and `NetStream.Publish.Start`.
    mutating func confirmPublish() {
        self.write(.userControl, [0, 0] + RTMPServerSession.bytes(self.publishStreamID))
        if self.fcPublishTransaction > 0 {
            // Hardware encoders expect the transaction id of their FCPublish here.
            let status = self.information("status", "NetStream.Publish.Start", "Publishing.")
            self.respond(
                RTMPCommand("onFCPublish", transaction: self.fcPublishTransaction, [.null, status]),
                streamID: self.publishStreamID)
            self.fcPublishTransaction = 0
        }
        self.respond(
            RTMPCommand(
                "onStatus",
                [
                    .null,
                    self.information("status", "NetStream.Publish.Start", "Publishing.", details: self.publishName),
                ]),
            streamID: self.publishStreamID)
    }

    /// Asks the client to reconnect. The request is sent on message stream 0, which stands for the connection, not on
    /// the publishing stream.
    mutating func askToReconnect() {
        let status = self.information(
            "status", "NetConnection.Connect.ReconnectRequest", "This server is stopping. Reconnect.")
        self.respond(RTMPCommand("onStatus", [.null, status]))
    }

    private mutating func fcUnpublish(_ command: RTMPCommand, on streamID: UInt32, now: Int64) {
        // Usually it arrives on message stream 0, and the key tells which publication is meant, also if it arrives on
        // an older stream. If that stream had the same key, only the stream id tells.
        let key = command.argument(1)
        let isNamed = key?.string == self.publishName && self.earlierName != self.publishName
        let isLate = !isNamed && self.isOther(id: streamID) || self.isEarlier(key)
        let status = self.information("status", "NetStream.Unpublish.Success", "Stopped publishing.")
        self.respond(
            RTMPCommand("onFCUnpublish", [.null, status]), streamID: isLate ? streamID : self.publishStreamID)
        self.result(of: command, .undefined)
        if !isLate { self.closeStream(0, now: now) }
    }

    /// Closes a stream of the client. The publication ends, unless the stream was assigned and is not the publishing one.
    ///
    /// - Parameter streamID: The message stream of the command: the publishing one, another one, or 0.
    private mutating func closeStream(_ streamID: UInt32, now: Int64) {
        let isLate = self.isOther(id: streamID)
        if !isLate { self.endPublication(now: now) }
        self.openStreams.remove(streamID)
        let status = self.information("status", "NetStream.Unpublish.Success", "Stopped publishing.")
        // The client waits for this on the stream that it closes.
        self.respond(RTMPCommand("onStatus", [.null, status]), streamID: isLate ? streamID : self.publishStreamID)
    }

    private mutating func deleteStream(_ command: RTMPCommand, now: Int64) {
        // The argument is a number, a string or missing; there is at most one publication.
        let stream = command.argument(1)
        if let id = stream?.number.flatMap({ UInt32(exactly: $0) }), self.isOther(id: id) {
            self.openStreams.remove(id)
        } else if !self.isEarlier(stream) {
            self.endPublication(now: now)
            self.openStreams.remove(self.publishStreamID)
        }
        self.result(of: command, .undefined)
    }

    // MARK: Output

    /// Sends `_result` if the client waits for one.
    private mutating func result(of command: RTMPCommand, _ value: AMF0Value) {
        guard command.transaction > 0 else { return }
        self.respond(RTMPCommand("_result", transaction: command.transaction, [.null, value]))
    }

    /// Sends `onStatus` with level `error`.
    mutating func status(_ refusal: PublishRefusal, details: String, streamID: UInt32? = nil) {
        self.respond(
            RTMPCommand(
                "onStatus", [.null, self.information("error", refusal.code, refusal.text, details: details)]),
            streamID: streamID ?? self.publishStreamID)
    }

    private func information(
        _ level: String, _ code: String, _ description: String, details: String = ""
    ) -> AMF0Value {
        var properties = [
            AMF0Property("level", .string(level)), AMF0Property("code", .string(code)),
            AMF0Property("description", .string(description)),
        ]
        if !details.isEmpty { properties.append(AMF0Property("details", .string(details))) }
        properties.append(AMF0Property("clientid", .number(1)))
        return .object(properties)
    }

    private mutating func respond(_ command: RTMPCommand, streamID: UInt32 = 0) {
        let message = command.message(chunkStreamID: streamID == 0 ? 3 : 5, streamID: streamID)
        self.writer.write(message, header: .full, into: &self.output)
    }
}
