package import MediaTypes

/// What came of reading a pipeline file.
package struct SpecReport: Sendable, Equatable {
    /// Every mistake of a file that was refused.
    package struct Refusal: Error, Sendable, Equatable {
        /// In file order, those of flags last; never empty.
        package let mistakes: [SpecMistake]
    }

    package let result: Result<Pipeline, Refusal>
    /// What was put right without asking, in file order.
    package let warnings: [SpecMistake]

    /// The pipeline; `nil` when the file was refused.
    package var pipeline: Pipeline? { try? self.result.get() }
    /// Why it was refused; empty when it was not.
    package var mistakes: [SpecMistake] {
        if case .failure(let refusal) = self.result { refusal.mistakes } else { [] }
    }

    /// A line for each mistake and each warning, and the count at the end; empty when there is nothing to say.
    ///
    /// - Parameter file: The name to print, as the operator gave it.
    package func text(file: String) -> String {
        var lines = self.mistakes.map { $0.text(file: file) }
        lines += self.warnings.map { "warning: " + $0.text(file: file) }
        if !self.mistakes.isEmpty {
            lines.append("\(file): \(self.mistakes.count) mistake\(self.mistakes.count == 1 ? "" : "s")")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Members `file`, `valid`, `mistakes`, `warnings`.
    package func json(file: String) -> JSONNode {
        .object([
            JSONMember("file", .string(file)), JSONMember("valid", JSONNode(.boolean(self.mistakes.isEmpty))),
            JSONMember("mistakes", .array(self.mistakes.map(\.json))),
            JSONMember("warnings", .array(self.warnings.map(\.json))),
        ])
    }
}
