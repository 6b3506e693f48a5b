/// Checks that depend on the machine that runs the room: image files, fonts, certificates, FFmpeg's libraries.
package struct SpecChecks: Sendable {
    /// A problem and its remedy; both texts without a trailing period.
    package struct Problem: Error, Hashable {
        package var what: String
        package var fix: String

        package init(_ what: String, fix: String) {
            self.what = what
            self.fix = fix
        }
    }

    /// What is wrong with the file of an overlay.
    package enum AnimationProblem: Sendable, Hashable {
        /// The file cannot be played.
        case unusable(Problem)
        /// The file can be played, but probably does not look as intended.
        case doubtful(Problem)
    }

    /// What is wrong with a listener's certificate.
    package enum CertificateProblem: Sendable, Hashable {
        /// The listener cannot use the certificate.
        case unusable(Problem)
        /// The listener can use the certificate, but clients will reject it.
        case doubtful(Problem)
    }

    /// A part of FFmpeg's libraries that not every build of FFmpeg has.
    package enum LibraryPart: Sendable, Hashable {
        /// libx264, which encodes the renditions.
        case encoder
        /// A hardware encoder of a rendition.
        case hardwareEncoder(VideoEncoding.Encoder)
        /// libopus, which encodes the audio for WebRTC viewers.
        case opusEncoder
        /// A decoder for a codec that publishers may send.
        case decoder(Pipeline.Ingest.Codec)
        /// The filter for noise suppression with a model.
        case noiseModels
        /// The protocol SRT.
        case srt
    }

    /// Returns why the image file at this path cannot be used; `nil` if it can.
    package var image: @Sendable (_ path: String) -> Problem?
    /// Returns why the media file of a file source cannot be used; `nil` if it can. Only a worker that restores the
    /// changes of an earlier worker checks this: a file that the room opens is checked when it is opened.
    package var media: @Sendable (_ path: String) -> Problem? = { _ in nil }
    /// Returns what is wrong with the file of an overlay; `nil` if nothing is.
    ///
    /// `alpha`: the half of its frames that contains the transparency; `nil` if the frames have an alpha plane.
    package var animation: @Sendable (_ path: String, _ alpha: Pipeline.Overlay.Side?) -> AnimationProblem? = { _, _ in
        nil
    }
    /// Returns why the model file for noise suppression at this path cannot be used; `nil` if it can.
    package var noiseModel: @Sendable (_ path: String) -> Problem? = { _ in nil }
    /// Returns why the font file at this path cannot be used; `nil` if it can.
    package var font: @Sendable (_ path: String) -> Problem?
    /// Returns why this text cannot be drawn completely with the pipeline's and the machine's fonts; `nil` if it can.
    package var text: @Sendable (_ text: String, _ fonts: [String]) -> Problem?

    /// Returns what is wrong with the files of a certificate; `nil` if nothing is.
    package var certificate: @Sendable (_ settings: TLSSettings) -> CertificateProblem?
    /// Returns what does not work because the FFmpeg libraries of this process lack the part; `nil` if they have the
    /// part.
    package var library: @Sendable (_ part: LibraryPart) -> Problem?

    package init(
        image: @escaping @Sendable (_ path: String) -> Problem? = { _ in nil },
        font: @escaping @Sendable (_ path: String) -> Problem? = { _ in nil },
        text: @escaping @Sendable (_ text: String, _ fonts: [String]) -> Problem? = { _, _ in nil },
        certificate: @escaping @Sendable (_ settings: TLSSettings) -> CertificateProblem? = { _ in nil },
        library: @escaping @Sendable (_ part: LibraryPart) -> Problem? = { _ in nil }
    ) {
        self.image = image
        self.font = font
        self.text = text
        self.certificate = certificate
        self.library = library
    }

    /// No checks: the result is the same on every machine.
    package static let none = SpecChecks()

    func problem(ofImage path: String, at place: String, _ log: SpecLog) -> Problem? {
        path.isEmpty || !log.isValid(place) ? nil : self.image(path)
    }

    func problem(ofFont path: String, at place: String, _ log: SpecLog) -> Problem? {
        path.isEmpty || !log.isValid(place) ? nil : self.font(path)
    }

    /// Returns why a text cannot be drawn; `nil` if it can, if it is empty, or if its value already has a mistake.
    ///
    /// - Parameter fonts: The pipeline's font files.
    func problem(ofText text: String, _ fonts: [String], at place: String, _ log: SpecLog) -> Problem? {
        text.isEmpty || !log.isValid(place) ? nil : self.text(text, fonts)
    }
}
