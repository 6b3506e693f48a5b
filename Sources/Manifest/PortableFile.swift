/// A file or secret that a room reads and that is not part of its pipeline document.
package struct PortableFile: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// A secret that the room reads from a file, or a file of a TLS certificate or its key.
        case secretFile
        /// A secret that the room reads from this environment variable.
        case secretVariable(String)
        /// An image, a font, the file of an overlay, a model for noise suppression, or a file of certificate authorities.
        case file
    }

    package var kind: Kind
    /// Name in the orchestrator's store: letters, digits, `-`, `_` and dots.
    package var name: String
    /// Location in the pipeline document, such as `sources[0].streamKey`.
    package var place: String
    /// Path of the operator's file; `nil`: the value was in the pipeline document itself, or is in a variable.
    package var origin: String?

    package init(_ kind: Kind, name: String, place: String, origin: String?) {
        self.kind = kind
        self.name = name
        self.place = place
        self.origin = origin
    }

    package var isSecret: Bool { self.kind != .file }

    /// Text for a comment that says what to fill in for this file or secret.
    package var hint: String {
        switch (self.kind, self.origin) {
        case (.file, let origin): "the file \(origin ?? self.name)"
        case (.secretVariable(let variable), nil): "\(self.place): value of \(variable)"
        case (_, let origin?): "\(self.place): contents of \(origin)"
        case (_, nil): "\(self.place): removed from the pipeline file"
        }
    }
}
