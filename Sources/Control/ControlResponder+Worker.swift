import HTTPTypes
import Logging

/// Requests about the worker itself (alarms, log lines, log level), and the check of a body's media type.
extension ControlResponder {
    func alarms(_ query: [(name: String, value: String)]) throws(ControlFailure) -> String {
        try Self.refuseUnknown(query, known: ["state"])
        let text = query.last?.value ?? "all"
        guard let state = AlarmState(rawValue: text) else {
            throw .invalidFormat("there is no state \"\(text.prefix(32))\"", fix: "use set, cleared or all")
        }
        return self.room.alarmsJSON(state)
    }

    // MARK: Logs

    private static let usualTail = 200

    func logs(_ query: [(name: String, value: String)]) throws(ControlFailure) -> String {
        try Self.refuseUnknown(query, known: ["tail"])
        var count = Self.usualTail
        if let text = query.last?.value {
            guard let number = Int(text), (1...LogRing.capacity).contains(number) else {
                throw .invalidFormat(
                    "\"\(text.prefix(32))\" is not a valid number of lines", fix: "use 1 to \(LogRing.capacity)")
            }
            count = number
        }
        let logRing = try self.logRing()
        let lines = logRing.tail(count).joined(separator: ",")
        return "{\"level\":\"\(logRing.level.rawValue)\",\"lines\":[\(lines)]}"
    }

    func setLogLevel(_ body: [UInt8]) throws(ControlFailure) -> LogLevelReply {
        let known = Logger.Level.allCases.map(\.rawValue)
        guard let text = try FlatObject(body: body, keys: ["level"]).string("level") else {
            throw .invalidFormat("the body has no \"level\"", fix: "send {\"level\":\"debug\"}")
        }
        guard let level = Logger.Level(rawValue: text) else {
            throw .invalidFormat(
                "there is no level \"\(text.prefix(32))\"", fix: "use one of: \(known.joined(separator: ", "))",
                status: 422)
        }
        let logRing = try self.logRing()
        let isChange = logRing.level != level
        logRing.level = level
        return LogLevelReply(level: level.rawValue, changed: isChange)
    }

    private func logRing() throws(ControlFailure) -> LogRing {
        guard let logRing = self.options.logs else {
            throw .notFound("this process does not keep log lines", fix: "read its standard error")
        }
        return logRing
    }

    // MARK: Media types

    /// Accepted media types of a body. curl sends `application/x-www-form-urlencoded` by default, so this type is
    /// accepted for JSON too.
    private static let json = ["application/json", "application/x-www-form-urlencoded"]
    private static let mergePatch = "application/merge-patch+json"

    /// Refuses a body with a media type that is not accepted. Spec: RFC 9110 §15.5.16, RFC 5789 §2.2.
    static func checkForm(of request: HTTPRequest, _ route: ControlRoute, _ body: [UInt8]) throws(ControlFailure) {
        guard !body.isEmpty, let field = request.headerFields[.contentType] else { return }
        let form = field.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        let isPatch = route == .room && request.method == .patch
        guard !Self.json.contains(form), !isPatch || form != Self.mergePatch else { return }
        throw .invalidFormat(
            "the body has the media type \(field.prefix(64)), which is not accepted here",
            fix: "send JSON as application/json\(isPatch ? " or \(Self.mergePatch)" : "")", status: 415)
    }
}

/// Which alarms a request asks for: active (`set`), cleared, or all.
package enum AlarmState: String, Sendable, CaseIterable { case set, cleared, all }
