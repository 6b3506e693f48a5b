package import MediaTypes

/// The result of parsing a pipeline file.
package struct SpecReport: Sendable, Equatable {
    /// All mistakes of a rejected file or request body.
    package struct Refusal: Error, Sendable, Equatable {
        /// The mistakes in the order of the text, those of command-line flags last.
        package let mistakes: [SpecDiagnostic]
    }

    package let result: Result<Pipeline, Refusal>
    /// Warnings, such as values that were corrected, in file order.
    package let warnings: [SpecDiagnostic]

    /// The validated pipeline; `nil` if the file was rejected.
    package var pipeline: Pipeline? { try? self.result.get() }
    /// The mistakes; empty if the file is valid.
    package var mistakes: [SpecDiagnostic] {
        if case .failure(let refusal) = self.result { refusal.mistakes } else { [] }
    }

    /// Returns one line for each mistake and each warning, followed by the number of mistakes; empty if there are none.
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

    /// Returns the report as a JSON object with the members `file`, `valid`, `mistakes` and `warnings`.
    package func json(file: String) -> JSONNode {
        .object([
            JSONMember("file", .string(file)), JSONMember("valid", JSONNode(.boolean(self.mistakes.isEmpty))),
            JSONMember("mistakes", .array(self.mistakes.map(\.json))),
            JSONMember("warnings", .array(self.warnings.map(\.json))),
        ])
    }
}
