/// A request to a store, without the header fields that the store's protocol adds.
package struct ObjectRequest: Sendable, Hashable {
    package var method: String
    /// Object name: letters, digits, `.`, `_` and `-`.
    package var name: String
    /// Header fields; their names are in lower case.
    package var fields: [(name: String, value: String)]
    package var body: [UInt8]

    package init(method: String, name: String, fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.method = method
        self.name = name
        self.fields = fields
        self.body = body
    }

    package static func == (left: ObjectRequest, right: ObjectRequest) -> Bool {
        left.method == right.method && left.name == right.name && left.body == right.body
            && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.method)
        hasher.combine(self.name)
    }
}

/// The address of a store and its credentials.
package protocol UploadTarget: Sendable {
    /// The part of the address that may be shown in logs, without credentials.
    var shown: String { get }

    /// Returns the URL and all header fields of a request.
    ///
    /// - Parameter now: Seconds since the Unix epoch.
    func request(_ head: ObjectRequest, at now: Int64) -> (url: String, fields: [(name: String, value: String)])

    /// Describes why the store rejected a request.
    ///
    /// - Parameter body: The response body, empty if it is too long or could not be read; untrusted.
    func reason(status: Int, _ body: [UInt8]) -> String

    /// Whether both targets are the same store with the same credentials.
    func isSame(as other: any UploadTarget) -> Bool
}

extension UploadTarget where Self: Equatable {
    package func isSame(as other: any UploadTarget) -> Bool { (other as? Self) == self }
}

extension UploadTarget {
    package func reason(status: Int, _ body: [UInt8]) -> String { "status \(status)" }
}

/// An HTTP server that accepts objects below a URL.
package struct HTTPOrigin: UploadTarget, Hashable, CustomReflectable {
    /// Base URL with a trailing slash.
    private let url: String
    private let authorization: String?

    /// Makes a target from a base URL.
    ///
    /// - Parameters:
    ///   - url: Base URL, `http://…` or `https://…` without query; object names are appended.
    ///   - authorization: Value of the `authorization` header field, which is never shown; `nil` for none.
    package init(url: String, authorization: String? = nil) {
        self.url = url.hasSuffix("/") ? url : url + "/"
        self.authorization = authorization
    }

    package var shown: String {
        let parts = self.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return "?" }
        return "\(parts[0])//\(parts[2].split(separator: "@").last ?? "")"
    }

    package var customMirror: Mirror { Mirror(self, children: ["url": self.shown]) }

    package func request(
        _ head: ObjectRequest, at now: Int64
    ) -> (url: String, fields: [(name: String, value: String)]) {
        (self.url + head.name, head.fields + (self.authorization.map { [("authorization", $0)] } ?? []))
    }
}
