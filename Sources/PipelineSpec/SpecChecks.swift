/// What only the machine that runs the room can say of a pipeline: its image files, its fonts.
package struct SpecChecks: Sendable {
    /// Something that is wrong, and its remedy; both without trailing period.
    package struct Problem: Sendable, Hashable {
        package var what: String
        package var fix: String

        package init(_ what: String, fix: String) {
            self.what = what
            self.fix = fix
        }
    }

    /// What is wrong with a listener's certificate.
    package enum CertificateProblem: Sendable, Hashable {
        /// The listener cannot use it.
        case unusable(Problem)
        /// Clients will refuse it.
        case doubtful(Problem)
    }

    /// Why the file at this path cannot be shown; `nil`: it can.
    package var image: @Sendable (_ path: String) -> Problem?
    /// Why texts cannot be drawn with the font file at this path; `nil`: they can.
    package var font: @Sendable (_ path: String) -> Problem?
    /// Why this text cannot be drawn as it stands, with the pipeline's font files and the machine's; `nil`: it can.
    package var text: @Sendable (_ text: String, _ fonts: [String]) -> Problem?

    /// What is wrong with the files of a certificate; `nil`: nothing.
    package var certificate: @Sendable (_ settings: TLSSettings) -> CertificateProblem?

    package init(
        image: @escaping @Sendable (_ path: String) -> Problem? = { _ in nil },
        font: @escaping @Sendable (_ path: String) -> Problem? = { _ in nil },
        text: @escaping @Sendable (_ text: String, _ fonts: [String]) -> Problem? = { _, _ in nil },
        certificate: @escaping @Sendable (_ settings: TLSSettings) -> CertificateProblem? = { _ in nil }
    ) {
        self.image = image
        self.font = font
        self.text = text
        self.certificate = certificate
    }

    /// Looks at nothing: the same answer on every machine.
    package static let none = SpecChecks()

    func problem(ofImage path: String, at place: String, _ log: SpecLog) -> Problem? {
        path.isEmpty || !log.isSound(place) ? nil : self.image(path)
    }

    func problem(ofFont path: String, at place: String, _ log: SpecLog) -> Problem? {
        path.isEmpty || !log.isSound(place) ? nil : self.font(path)
    }

    /// - Parameter fonts: The pipeline's font files.
    func problem(ofText text: String, _ fonts: [String], at place: String, _ log: SpecLog) -> Problem? {
        text.isEmpty || !log.isSound(place) ? nil : self.text(text, fonts)
    }
}
