import LibAV
package import MediaTypes
package import PipelineSpec
package import Program
package import Threading
import Synchronization
import TLSFiles

/// Checks of a pipeline that depend on this machine and on the FFmpeg libraries.
package enum RoomChecks {
    /// Largest size of an image file, in bytes.
    static let imageLimit = 2_000_000

    /// The checks for the operator's pipeline file.
    ///
    /// - Parameter wall: The clock that decides whether a certificate is valid now.
    package static func here(wall: any WallClock) -> SpecChecks {
        var checks = SpecChecks(
            image: { Self.problem(ofImage: $0) }, font: { Self.problem(ofFont: $0) },
            text: { Self.problem(ofText: $0, named: $1) },
            certificate: { Self.problem(of: $0, wall: wall) }, library: { Self.problem(ofLibrary: $0) })
        checks.animation = { Self.knownProblem(ofAnimation: $0, AnimationAlpha($1)) }
        checks.noiseModel = { Self.problem(ofNoiseModel: $0) }
        return checks
    }

    /// The checks for an API request. Files that the request may not use are not accessed, so that it cannot find out
    /// which files exist.
    static func forRequests(_ grants: ResourceGrants, wall: any WallClock) -> SpecChecks {
        var checks = Self.here(wall: wall)
        let (image, font, text) = (checks.image, checks.font, checks.text)
        let certificate = checks.certificate
        let (animation, noiseModel) = (checks.animation, checks.noiseModel)
        checks.image = { path in
            Self.refusal(
                of: NamedResource(.image, path), grants,
                fix: "name the image in the pipeline file, or put it into control.imagesDirectory") ?? image(path)
        }
        checks.animation = { path, alpha in
            Self.refusal(
                of: NamedResource(.media, path), grants,
                fix: "name the file in the pipeline file, or put it into control.mediaDirectory"
            ).map(SpecChecks.AnimationProblem.unusable) ?? animation(path, alpha)
        }
        checks.noiseModel = { path in
            Self.refusal(
                of: NamedResource(.noiseModel, path), grants,
                fix: "name the file in noiseModel of the pipeline file, or put it into control.mediaDirectory")
                ?? noiseModel(path)
        }
        checks.font = { path in
            Self.refusal(
                of: NamedResource(.file(member: "fonts"), path), grants, fix: "name the font in the pipeline file")
                ?? font(path)
        }
        checks.text = { words, fonts in
            text(words, fonts.filter { grants.allows(NamedResource(.file(member: "fonts"), $0)) })
        }
        checks.certificate = { settings in
            // A running room cannot change its certificate files.
            let files = [("tls.certificate", settings.certificate), ("tls.key", settings.key)]
            let isNamed = files.allSatisfy { grants.allows(NamedResource(.file(member: $0.0), $0.1)) }
            return isNamed ? certificate(settings) : nil
        }
        return checks
    }

    /// Why a request may not name a file; nil if it may. The file is not accessed.
    private static func refusal(
        of resource: NamedResource, _ grants: ResourceGrants, fix: String
    ) -> SpecChecks.Problem? {
        grants.allows(resource) ? nil : SpecChecks.Problem("a request may not name this file", fix: fix)
    }

    private static let systemFonts = (try? SceneFonts.find()) ?? .builtIn

    /// The fonts of a pipeline: the font files that it names, then those installed on the machine.
    ///
    /// - Throws: ``MediaError/Code/unavailable`` if a named file cannot be used.
    package static func fonts(named paths: [String]) throws(MediaError) -> SceneFonts {
        if paths.isEmpty { return self.systemFonts }
        return try SceneFonts.find(named: paths)
    }

    /// Checks whether a text can be drawn; see ``problem(ofText:_:canDraw:)``. The named fonts are read, which takes
    /// milliseconds, only if the machine's fonts cannot draw the text.
    private static func problem(ofText text: String, named paths: [String]) -> SpecChecks.Problem? {
        let problem = self.problem(ofText: text, self.systemFonts)
        guard problem != nil, !paths.isEmpty, let fonts = try? self.fonts(named: paths) else { return problem }
        return self.problem(ofText: text, fonts)
    }

    /// Returns a check of media files that opens each file only once: edits may be tried one by one, and opening a file takes
    /// as long as decoding several frames.
    static func mediaCheck() -> @Sendable (_ path: String) -> SpecChecks.Problem? {
        let known = Mutex<[String: SpecChecks.Problem?]>([:])
        return { path in
            if let problem = known.withLock({ $0[path] }) { return problem }
            let problem = self.problem(ofMedia: path)
            known.withLock { $0[path] = .some(problem) }
            return problem
        }
    }

    /// Why a media file cannot be used as a source; nil if it can.
    private static func problem(ofMedia path: String) -> SpecChecks.Problem? {
        do throws(MediaError) {
            var reader = FileReader(path: path, loops: false, place: "source")
            _ = try reader.probe()
            return nil
        } catch {
            return SpecChecks.Problem(error.what, fix: error.fix)
        }
    }

    /// An animation file as it was when it was checked.
    private struct CheckedAnimation: Hashable {
        var path: String
        var alpha: AnimationAlpha
        var version: FileVersion
    }

    /// Results for the usable files that were checked last; a document may name 64, and each change of it checks all of
    /// them. Unusable files are checked again, because the cause may be momentary, such as too little memory.
    private static let checkedAnimations = Mutex<[CheckedAnimation: SpecChecks.AnimationProblem?]>([:])

    /// What ``problem(ofAnimation:_:)`` returns. The results for usable files are remembered as long as the files do not
    /// change; 256 at most.
    private static func knownProblem(ofAnimation path: String, _ alpha: AnimationAlpha) -> SpecChecks.AnimationProblem?
    {
        guard let version = FileVersion(path: path) else { return self.problem(ofAnimation: path, alpha) }
        let key = CheckedAnimation(path: path, alpha: alpha, version: version)
        if let known = self.checkedAnimations.withLock({ $0[key] }) { return known }
        let problem = self.problem(ofAnimation: path, alpha)
        if case .some(.unusable) = problem { return problem }
        self.checkedAnimations.withLock { known in
            if known.count >= 256 { known = [:] }
            known[key] = .some(problem)
        }
        return problem
    }

    /// Number of packets after which no more frame is expected, so that a long file without one delays no request.
    private static let mostCheckedPackets = 1_000

    /// What is wrong with the file of an overlay, judged by its first frame; nil if nothing is.
    private static func problem(ofAnimation path: String, _ alpha: AnimationAlpha) -> SpecChecks.AnimationProblem? {
        do throws(MediaError) {
            let reader = try AnimationReader.open(
                path: path, alpha: alpha, box: PixelRect(x: 0, y: 0, width: 64, height: 64), sampleRate: 48_000,
                place: "overlay")
            var hasFrame = false
            var steps = 0
            while !hasFrame, !reader.isOver, steps < 2 * Self.mostCheckedPackets {
                steps += 1
                if reader.canDecode { try reader.decode { _ in hasFrame = true } } else { reader.read { _, _ in } }
            }
            guard hasFrame else {
                return .unusable(
                    SpecChecks.Problem(
                        "\(path) has no frame that can be decoded", fix: "give a WebM, APNG or MP4 file"))
            }
            guard reader.isOpaque == true else { return nil }
            return .doubtful(
                SpecChecks.Problem(
                    "\(path) has no transparency, so it covers what is behind it",
                    fix: "if one half of its frames is its transparency, add \"alpha\": \"left\" or \"right\""))
        } catch {
            return .unusable(SpecChecks.Problem(error.what, fix: error.fix))
        }
    }

    /// Why text cannot be drawn with the font file; nil if it can.
    package static func problem(ofFont path: String) -> SpecChecks.Problem? {
        do throws(MediaError) {
            _ = try SceneFont.open(path)
            return nil
        } catch {
            return SpecChecks.Problem(error.what, fix: error.fix)
        }
    }

    /// Which characters of a text would be shown as boxes, or that the text would be drawn with the built-in letters;
    /// nil if there is no problem.
    ///
    /// - Parameter canDraw: Whether the FFmpeg libraries can draw text with font files.
    package static func problem(
        ofText text: String, _ fonts: SceneFonts, canDraw: Bool = LibAV.hasFilter("drawtext")
    ) -> SpecChecks.Problem? {
        guard canDraw || text.isEmpty else {
            return SpecChecks.Problem(
                "this FFmpeg has no drawtext, so the built-in capitals are shown instead of fonts",
                fix: "install an FFmpeg built with libfreetype (Debian's is)")
        }
        let missing = fonts.missing(in: text)
        if !missing.isEmpty {
            let shown = missing.prefix(8).map { "\($0) (\(Self.codePoint($0)))" }.joined(separator: ", ")
            let rest = missing.count > 8 ? " and \(missing.count - 8) more" : ""
            return SpecChecks.Problem(
                "no font has \(shown)\(rest), so boxes are shown instead",
                fix: "install \(Self.package(for: missing)), or name a font file in canvas.fonts")
        }
        guard !fonts.hasLatin, text.unicodeScalars.contains(where: { (0x21...0x7e).contains($0.value) }) else {
            return nil
        }
        return SpecChecks.Problem(
            "no font has Latin letters and digits, so the built-in capitals are shown instead",
            fix: "install Debian's fonts-dejavu-core, or name a font file in canvas.fonts")
    }

    private static func codePoint(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Names of Debian packages with fonts that have these characters, or a description of the font where none is known.
    private static func package(for missing: [Unicode.Scalar]) -> String {
        var names: [String] = []
        for scalar in missing {
            let name =
                if self.isEastAsian(scalar) {
                    "fonts-noto-cjk"
                } else if scalar.value > 0xff, scalar.properties.isEmoji {
                    "fonts-symbola"
                } else if scalar.value < 0x500 {
                    "fonts-dejavu-core"
                } else {
                    "a font with outlines that has them"
                }
            if !names.contains(name) { names.append(name) }
        }
        return names.joined(separator: " and ")
    }

    /// Whether a character is Hangul, Han, kana or punctuation used with them (by Unicode block).
    private static func isEastAsian(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x11ff, 0x2e80...0x9fff, 0xa960...0xa97f, 0xac00...0xd7ff, 0xf900...0xfaff, 0xff00...0xffef,
            0x20000...0x3ffff:
            true
        default: false
        }
    }

    /// Why a listener could not use the certificate, or why clients would refuse it; nil if there is no problem.
    static func problem(of settings: TLSSettings, wall: any WallClock) -> SpecChecks.CertificateProblem? {
        do throws(MediaError) {
            let pair = try CertificatePair.load(CertificateFiles(settings), place: "tls")
            return pair.timeProblem(now: wall.now() / TimeMath.nanoseconds).map {
                .doubtful(SpecChecks.Problem("\($0), and clients refuse it", fix: "renew \(settings.certificate)"))
            }
        } catch {
            return .unusable(SpecChecks.Problem(error.what, fix: error.fix))
        }
    }

    /// Why the file cannot be the model of `noiseSuppression: model`; nil if it can.
    static func problem(ofNoiseModel path: String) -> SpecChecks.Problem? {
        let form = "give a text file in the format of rnnoise-nu, as FFmpeg's filter arnndn reads it"
        do throws(FileReading.Failure) {
            let bytes = try FileReading.regular(path, limit: NoiseModel.mostBytes)
            return NoiseModel.problem(in: bytes).map { SpecChecks.Problem("the model \(path) \($0)", fix: form) }
        } catch {
            let isForm = if case .unreadable = error { false } else { true }
            return SpecChecks.Problem(
                "the model \(path) \(error.text)",
                fix: isForm ? form : "check the path; a relative path begins at the working directory")
        }
    }

    /// Why the image file cannot be shown: it is missing, too large, or neither PNG nor JPEG; nil if it can be shown.
    static func problem(ofImage path: String) -> SpecChecks.Problem? {
        let bytes: [UInt8]
        do throws(FileReading.Failure) {
            bytes = try FileReading.regular(path, limit: Self.imageLimit)
        } catch {
            switch error {
            case .unreadable:
                return SpecChecks.Problem(
                    "the image \(path) \(error.text)",
                    fix: "check the path; a relative path begins at the working directory")
            case .notRegular:
                return SpecChecks.Problem("\(path) is not a regular file", fix: "write the path of a PNG or JPEG file")
            case .tooLarge(let size):
                return SpecChecks.Problem(
                    "the image \(path) has \(size) bytes, and \(Self.imageLimit) is the limit",
                    fix: "scale the image down; it need not be larger than its rectangle")
            }
        }
        let isPNG = bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        guard bytes.count >= 8, isPNG || bytes.starts(with: [0xff, 0xd8, 0xff]) else {
            return SpecChecks.Problem("\(path) is neither PNG nor JPEG", fix: "convert it to PNG or JPEG")
        }
        return nil
    }
}
