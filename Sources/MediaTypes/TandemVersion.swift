/// Version of the program, for `tandem --version` and outgoing requests.
package enum TandemVersion {
    /// Version number of the program (semantic versioning).
    package static let number = "0.2.0"
    /// `User-Agent` of outgoing requests. Spec: RFC 9110 §10.1.5.
    package static let userAgent = "tandem/\(Self.number)"
}
