/// Which program this is, as `tandem --version` and requests to others say it.
package enum TandemVersion {
    /// Semantic version.
    package static let number = "0.2.0"
    /// `User-Agent` of requests that rooms make. Spec: RFC 9110 §10.1.5.
    package static let userAgent = "tandem/\(Self.number)"
}
