/// The parts of an HTTP request that WHIP and WHEP use.
package struct WHIPRequest: Sendable, Hashable {
    /// HTTP method in upper case, such as `POST`.
    package var method: String
    /// Path without query, as sent (percent-encoded).
    package var path: String
    /// Query without `?`; nil without one.
    package var query: String?
    package var contentType: String?
    package var authorization: String?
    package var ifMatch: String?
    package var origin: String?
    /// `Access-Control-Request-Method`: only preflight requests have it.
    package var requestedMethod: String?
    package var body: [UInt8]

    package init(
        method: String, path: String, query: String? = nil, contentType: String? = nil, authorization: String? = nil,
        ifMatch: String? = nil, origin: String? = nil, requestedMethod: String? = nil, body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.contentType = contentType
        self.authorization = authorization
        self.ifMatch = ifMatch
        self.origin = origin
        self.requestedMethod = requestedMethod
        self.body = body
    }
}
