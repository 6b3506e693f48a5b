import ArgumentParser
import MediaTypes

/// Makes the error message for an unknown subcommand: the most similar one, or a list of all.
enum CommandAdvice {
    /// Returns the error message for arguments with an unknown subcommand.
    ///
    /// - Parameter arguments: The arguments of the command line, without the name of the program.
    /// - Returns: A line for standard error; `nil` if no subcommand is unknown.
    static func message(_ arguments: [String], for root: any ParsableCommand.Type = Tandem.self) -> String? {
        var command = root
        var path = root._commandName
        for word in arguments {
            let children = command.configuration.subcommands
            if children.isEmpty || word.hasPrefix("-") || word == "help" { return nil }
            if let next = children.first(where: { $0._commandName == word }) {
                command = next
                path += " \(word)"
                continue
            }
            let names = children.map { $0._commandName }
            let begun = names.filter { $0.hasPrefix(word) && !word.isEmpty }
            let advice =
                if let nearest = begun.count == 1 ? begun.first : SpecText.nearest(to: word, among: names) {
                    "did you mean `\(path) \(nearest)`?"
                } else {
                    "use one of: \(names.joined(separator: ", "))"
                }
            return "\(path) has no subcommand \(SpecText.quoted(word)). Fix: \(advice)\n"
        }
        return nil
    }
}
