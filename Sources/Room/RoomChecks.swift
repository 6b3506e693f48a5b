package import PipelineSpec
import Program
import Stages

/// What this machine and this build say of a pipeline.
package enum RoomChecks {
    /// Largest image file, in bytes.
    static let imageLimit = 2_000_000

    package static let here = SpecChecks(
        image: { Self.problem(ofImage: $0) }, text: { Self.problem(ofText: $0) },
        certificate: { Self.problem(of: $0) })

    /// The same for what a request sends: what it may not name is not looked at, so that nobody learns what there is.
    static func forRequests(_ grants: ResourceGrants) -> SpecChecks {
        var checks = Self.here
        let (image, certificate) = (checks.image, checks.certificate)
        checks.image = { path in
            guard grants.allows(NamedResource(.image, path)) else {
                return SpecChecks.Problem(
                    "a request may not name this file",
                    fix: "name the image in the pipeline file, or put it into control.imagesDirectory")
            }
            return image(path)
        }
        checks.certificate = { settings in
            // A running room takes no other one.
            let files = [("tls.certificate", settings.certificate), ("tls.key", settings.key)]
            let isNamed = files.allSatisfy { grants.allows(NamedResource(.file(member: $0.0), $0.1)) }
            return isNamed ? certificate(settings) : nil
        }
        return checks
    }

    private static let font: SceneFont? = try? SceneFont.find()

    /// Why the text would be shown as boxes; `nil`: it would not.
    static func problem(ofText text: String) -> SpecChecks.Problem? {
        guard let font = self.font else {
            return SpecChecks.Problem("this machine has no font to draw it with", fix: SceneFont.remedy)
        }
        guard !font.hasCJK, text.unicodeScalars.contains(where: self.isEastAsian) else { return nil }
        return SpecChecks.Problem(
            "the font \(font.path) has no Korean or Chinese, which would be shown as boxes", fix: SceneFont.remedy)
    }

    /// Hangul, Han and kana, and what is written beside them (Unicode blocks).
    private static func isEastAsian(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x11ff, 0x2e80...0x9fff, 0xa960...0xa97f, 0xac00...0xd7ff, 0xf900...0xfaff, 0xff00...0xffef,
            0x20000...0x3ffff:
            true
        default: false
        }
    }

    /// Why the file cannot be shown: missing, too large, neither PNG nor JPEG.
    static func problem(ofImage path: String) -> SpecChecks.Problem? {
        let bytes: [UInt8]
        do throws(WholeRead.Failure) {
            bytes = try WholeRead.regular(path, limit: Self.imageLimit)
        } catch {
            switch error {
            case .unreadable:
                return SpecChecks.Problem(
                    "the image \(path) \(error.text)",
                    fix: "check the path; it is relative to the working directory")
            case .notRegular:
                return SpecChecks.Problem("\(path) is no file", fix: "write the path of a PNG or JPEG file")
            case .tooLarge(let size):
                return SpecChecks.Problem(
                    "the image \(path) has \(size) bytes, and \(Self.imageLimit) is the limit",
                    fix: "make it smaller; it need not be larger than its rectangle")
            }
        }
        let isPNG = bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        guard bytes.count >= 8, isPNG || bytes.starts(with: [0xff, 0xd8, 0xff]) else {
            return SpecChecks.Problem("\(path) is neither PNG nor JPEG", fix: "convert it to one of them")
        }
        return nil
    }
}
