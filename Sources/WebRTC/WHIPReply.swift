/// An HTTP reply: status, fields in order, body.
package struct WHIPReply: Sendable, Hashable {
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var status: Int
    package var fields: [Field]
    package var body: String

    package init(_ status: Int, fields: [Field] = [], body: String = "") {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The first field of a name, in any case.
    package subscript(name name: String) -> String? {
        self.fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// An error with its problem details.
    ///
    /// - Parameter allowed: For 405: the methods of the resource.
    package static func error(_ error: WHIPError, allowed: String? = nil) -> WHIPReply {
        var fields = [Field("Content-Type", "application/problem+json"), Field("Cache-Control", "no-store")]
        if error.status == 401 { fields.append(Field("WWW-Authenticate", "Bearer")) }
        if error.status == 405, let allowed { fields.append(Field("Allow", allowed)) }
        if let seconds = error.retryAfter { fields.append(Field("Retry-After", "\(seconds)")) }
        return WHIPReply(error.status, fields: fields, body: error.problem.text + "\n")
    }
}
