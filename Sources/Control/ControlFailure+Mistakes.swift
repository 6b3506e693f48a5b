package import MediaTypes
package import PipelineSpec

extension ControlFailure {
    /// The error for a document with mistakes. It names the first one in `what`, and lists up to 64 in `details`.
    package static func refused(
        _ mistakes: [SpecDiagnostic], as failure: (String, String, Int) -> ControlFailure
    ) -> ControlFailure {
        let first = mistakes.first
        let subject = first.map { $0.path.isEmpty ? "" : "\($0.path): " } ?? ""
        let more = mistakes.count > 1 ? " (and \(mistakes.count - 1) more)" : ""
        var failure = failure(
            "\(subject)\(first?.what ?? "the document is wrong")\(more)", first?.fix ?? "see the reference", 400)
        failure.details = mistakes.prefix(64).map {
            Detail(path: $0.path, line: $0.line, column: $0.column, what: $0.what, fix: $0.fix)
        }
        return failure
    }

    /// The error for a scene with mistakes: malformed if it is not a JSON object; an image error if only images cannot
    /// be shown; otherwise an invalid layout.
    package static func refusedScene(_ mistakes: [SpecDiagnostic]) -> ControlFailure {
        if mistakes.contains(where: { $0.path.isEmpty }) {
            return self.refused(mistakes, as: ControlFailure.invalidFormat(_:fix:status:))
        }
        return self.refused(mistakes) { what, fix, _ in
            Self.areOfImages(mistakes) ? .imageError(what, fix: fix) : .invalidLayout(what, fix: fix)
        }
    }

    /// The error for a pipeline file with mistakes: malformed if it cannot be parsed; an image error if only images
    /// cannot be shown; an invalid layout if only scenes have mistakes; otherwise invalid values.
    package static func refusedDocument(_ mistakes: [SpecDiagnostic], isMalformed: Bool) -> ControlFailure {
        self.refused(mistakes) { what, fix, _ in
            if isMalformed { return .invalidFormat(what, fix: fix) }
            if Self.areOfImages(mistakes) { return .imageError(what, fix: fix) }
            let isLayout = mistakes.allSatisfy { $0.path.hasPrefix("scenes[") }
            return isLayout ? .invalidLayout(what, fix: fix) : .invalidFormat(what, fix: fix, status: 422)
        }
    }

    private static func areOfImages(_ mistakes: [SpecDiagnostic]) -> Bool {
        !mistakes.isEmpty
            && mistakes.allSatisfy {
                $0.path.hasSuffix("].path") && !$0.path.hasPrefix("sources[") && !$0.path.hasPrefix("outputs[")
            }
    }

    /// The error, with status 422, for one invalid value in a request's body or in the pipeline document.
    ///
    /// - Parameters:
    ///   - path: The value's path in the body or document.
    ///   - what: What is wrong with the value.
    package static func invalidValue(_ path: String, _ what: String, fix: String) -> ControlFailure {
        var failure = ControlFailure.invalidFormat("\(path): \(what)", fix: fix, status: 422)
        failure.details = [Detail(path: path, line: 0, column: 0, what: what, fix: fix)]
        return failure
    }

    /// The error for a scene that the room does not have. `fix` lists the existing scenes.
    package static func unknownScene(_ sceneID: String, among scenes: [PipelineSpec.Scene]) -> ControlFailure {
        let known = scenes.map(\.sceneID).joined(separator: ", ")
        return .notFound("this room has no scene \"\(sceneID.prefix(64))\"", fix: "use one of: \(known)")
    }
}
