import Foundation

/// Every test of the project by file and function, such as `TimestampFaultTests.wraps`.
///
/// Tables of cases refer to tests in this way, so that titles can be reworded and files can move between targets.
enum TestIndex {
    static let names: Set<String> = {
        var names: Set<String> = []
        for file in SourceTree.swiftFiles(in: "Tests") {
            let base = file.path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
            for function in TestIndex.functions(of: file.lines) { names.insert("\(base).\(function)") }
        }
        return names
    }()

    /// Names of the functions with a `@Test` attribute.
    static func functions(of lines: [String]) -> [String] {
        var found: [String] = []
        var isTest = false
        for line in lines {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("@Test") { isTest = true }
            guard isTest, let keyword = text.range(of: "func ", options: .backwards) else { continue }
            let name = text[keyword.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            guard !name.isEmpty else { continue }
            found.append(String(name))
            isTest = false
        }
        return found
    }
}
