import HLS
import LibAV
import MediaTypes

extension PublishWebhook {
    static func srs(_ facts: PublishFacts) -> JSONValue {
        let param = facts.query.isEmpty ? "" : "?\(facts.query)"
        return [
            "server_id": "tandem", "service_id": "tandem", "action": "on_publish",
            "client_id": .string(String(facts.connection)), "ip": .string(facts.address?.description ?? ""),
            "vhost": "__defaultVhost__", "app": .string(facts.app), "tcUrl": .string(facts.tcURL),
            "stream": .string(facts.stream), "param": .string(param),
            "stream_url": .string("/\(facts.app)/\(facts.stream)"),
            "stream_id": .string("\(facts.app)/\(facts.stream)"),
        ]
    }

    static func nginx(_ facts: PublishFacts) -> String {
        let fields = [
            ("app", facts.app), ("flashver", facts.flashVersion), ("swfurl", ""), ("tcurl", facts.tcURL),
            ("pageurl", ""), ("addr", facts.address?.description ?? ""), ("clientid", String(facts.connection)),
            ("call", "publish"), ("name", facts.stream), ("type", "live"),
        ]
        let form = fields.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        // The publisher's own query fields come last, without those that repeat a field of the worker: a webhook that
        // uses the last value of a field would believe the publisher.
        let known = Set(fields.map(\.0))
        // Split by bytes, as a webhook does: a combining mark after `=` makes another Character in Swift, but not for
        // the webhook.
        let query = facts.query.utf8.split(separator: UInt8(ascii: "&")).filter { item in
            // Some web frameworks also split at `;`.
            !item.split(separator: UInt8(ascii: ";")).contains { part in
                self.isOneOf(known, String(Substring(part.prefix { $0 != UInt8(ascii: "=") })))
            }
        }.map { String(Substring($0)) }
        return query.isEmpty ? form : "\(form)&\(query.joined(separator: "&"))"
    }

    /// Returns whether a webhook could read the field name as one of `known`. Some web frameworks drop leading spaces,
    /// and end the name at a NUL or at the bracket of an array. A name that cannot be decoded could be any name.
    private static func isOneOf(_ known: Set<String>, _ name: String) -> Bool {
        guard let plain = PercentEncoding.decode(name)?.lowercased() else { return true }
        let bare = plain.unicodeScalars.drop { $0.properties.isWhitespace || $0 == "+" }
            .prefix { $0 != "\0" && $0 != "[" }
        return known.contains(String(String.UnicodeScalarView(bare)))
    }

    static func ome(_ facts: PublishFacts) -> JSONValue {
        let query = facts.query.isEmpty ? "" : "?\(facts.query)"
        let server = "\(facts.scheme)\(facts.isSecure ? "s" : "")://\(facts.server)"
        return [
            "client": [
                "address": .string(facts.address?.description ?? ""), "port": JSONValue(facts.port),
                "user_agent": .string(facts.flashVersion),
            ],
            "request": [
                "direction": "incoming", "protocol": .string(facts.scheme), "status": "opening",
                "url": .string("\(server)/\(facts.app)/\(facts.stream)\(query)"),
                "time": .string(ProgramDate.format(facts.time.multipliedReportingOverflow(by: 1_000_000_000).0)),
            ],
        ]
    }

    /// Signs a request with the Base64url HMAC-SHA1 of its body, if there is a secret.
    func signed(_ body: [UInt8]) -> Request {
        guard let secret = self.secret, !secret.isEmpty else {
            return Request(contentType: "application/json", fields: [], body: body)
        }
        let code = MessageAuthentication.hmacSHA1(key: Array(secret.utf8), message: body)
        return Request(
            contentType: "application/json",
            fields: [("X-OME-Signature", String(decoding: Base64URL.encode(code), as: UTF8.self))], body: body)
    }
}
