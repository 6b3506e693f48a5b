/// Resolves URLs and file paths of a presentation.
package enum Location {
    /// Resolves a reference in a playlist against the playlist's URL. Spec: RFC 3986 §5.2, for http, https and paths.
    static func resolve(_ reference: String, against base: String) -> String {
        if self.isRemote(reference) { return reference }
        let bare = self.withoutQuery(base)
        guard let (origin, path) = self.split(bare) else {
            // A local path.
            if reference.hasPrefix("/") { return reference }
            return self.normalized(self.folder(bare) + reference)
        }
        if reference.hasPrefix("//") { return String(origin.prefix { $0 != "/" }) + reference }
        if reference.hasPrefix("/") { return origin + reference }
        if reference.hasPrefix("?") { return bare + reference }
        return origin + self.normalized(self.folder(path) + reference)
    }

    package static func isRemote(_ url: String) -> Bool {
        let head = url.prefix(8).lowercased()
        return head.hasPrefix("http://") || head.hasPrefix("https://")
    }

    /// Returns `url` with added query parameters.
    static func adding(_ parameters: String, to url: String) -> String {
        url + (url.contains("?") ? "&" : "?") + parameters
    }

    static func withoutQuery(_ url: String) -> String { String(url.prefix { $0 != "?" && $0 != "#" }) }

    /// Splits a URL into scheme with authority, and path.
    private static func split(_ url: String) -> (origin: String, path: String)? {
        guard self.isRemote(url), let slashes = url.firstRange(of: "//")?.upperBound else { return nil }
        guard let path = url[slashes...].firstIndex(of: "/") else { return (url, "/") }
        return (String(url[..<path]), String(url[path...]))
    }

    private static func folder(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(path[...slash])
    }

    /// Removes `.` and `..` components from a path. Spec: RFC 3986 §5.2.4.
    private static func normalized(_ path: String) -> String {
        guard path.contains("./") || path.hasSuffix("/.") || path.hasSuffix("/..") else { return path }
        var kept: [Substring] = []
        for piece in path.split(separator: "/", omittingEmptySubsequences: false) {
            switch piece {
            case ".": continue
            case "..": if let last = kept.last, last != "", last != ".." { kept.removeLast() }
            default: kept.append(piece)
            }
        }
        return kept.joined(separator: "/")
    }
}
