/// Something that a room reads and that does not travel in its pipeline file.
package struct PortableFile: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// A secret that is read from a file.
        case secretFile
        /// A secret that is read from this environment variable.
        case secretVariable(String)
        /// An image or the like.
        case file
    }

    package var kind: Kind
    /// Its name in the engine's store: letters, digits, `-`, `_` and dots.
    package var name: String
    /// Where the pipeline file has it, such as `sources[0].streamKey`.
    package var place: String
    /// Where the operator has it now; `nil`: it stood in the pipeline file itself, or is in a variable.
    package var origin: String?

    package init(_ kind: Kind, name: String, place: String, origin: String?) {
        self.kind = kind
        self.name = name
        self.place = place
        self.origin = origin
    }

    package var isSecret: Bool { self.kind != .file }

    /// What to say beside the place where its value goes.
    package var hint: String {
        switch (self.kind, self.origin) {
        case (.file, let origin): "the file \(origin ?? self.name)"
        case (.secretVariable(let variable), nil): "\(self.place): what \(variable) is to hold"
        case (_, let origin?): "\(self.place): what \(origin) holds"
        case (_, nil): "\(self.place): taken out of the pipeline file"
        }
    }
}
