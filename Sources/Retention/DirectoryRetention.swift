package import MediaTypes

/// Finds and removes the directories of ended rooms below a root.
package struct DirectoryRetention: Sendable {
    /// Directories of the root that are looked at, at most, one inside the other.
    private static let deepest = 12

    private let root: String
    private let rule: RetentionRule
    private var judgement: Judgement

    /// - Parameter root: The operator's directory; it may be a link itself.
    package init(root: String, rule: RetentionRule) {
        self.root = root
        self.rule = rule
        self.judgement = Judgement(rule)
    }

    // MARK: Finding

    /// Looks at every directory of a room below the root. Changes nothing.
    ///
    /// - Returns: Ordered by path.
    /// - Throws: ``MediaTypes/MediaError/Code/notReadable`` for the root.
    package mutating func find() throws(MediaError) -> [Finding] {
        let root = try Folder.root(self.root)
        var paths: [(path: [String], look: FolderLook)] = []
        Self.visit(root, [], device: root.identity.device) { paths.append(($0, $1)) }
        self.judgement = Judgement(self.rule)
        for (path, look) in paths { self.judgement.note(look, path: Self.text(path)) }
        let judgement = self.judgement
        return paths.map { judgement.finding($0.look, path: Self.text($0.path)) }.sorted { $0.path < $1.path }
    }

    private static func text(_ path: [String]) -> String { path.isEmpty ? "." : path.joined(separator: "/") }

    private static func visit(
        _ folder: borrowing Folder, _ path: [String], device: UInt64, _ found: ([String], FolderLook) -> Void
    ) {
        let look = FolderLook.read(folder)
        if let look { found(path, look) }
        guard path.count < self.deepest else { return }
        for entry in folder.entries() ?? []
        where entry.kind == .directory && !FolderLook.isInner(entry.name, of: look) {
            // Another file system that is mounted below the root has a rule of its own.
            guard let inside = folder.folder(entry.name), inside.identity.device == device else { continue }
            self.visit(inside, path + [entry.name], device: device, found)
        }
    }

    // MARK: Removing

    /// The result of a removal.
    package struct Removal: Sendable, Hashable {
        /// Number of removed files.
        package var files = 0
        /// Why something is left; `nil`: nothing that a worker made.
        package var problem: String?
    }

    /// Removes what ``find()`` has found, if nothing has changed since then.
    ///
    /// The files by which the directory is recognized are removed last: however this is interrupted, the next run finds the directory
    /// again as that of an ended room, or not at all. No file of another session of the room is removed: if one begins meanwhile, this stops.
    ///
    /// - Parameter isAllowed: Called before each removal with the name of the file; false ends the work there, as a kill would.
    package func remove(_ finding: Finding, isAllowed: (String) -> Bool = { _ in true }) -> Removal {
        var removal = Removal()
        let names = finding.path == "." ? [] : finding.path.split(separator: "/").map(String.init)
        do throws(MediaError) {
            let root = try Folder.root(self.root)
            self.descend(root, names[...], finding, &removal, isAllowed)
        } catch {
            removal.problem = error.description
        }
        return removal
    }

    private func descend(
        _ folder: borrowing Folder, _ names: ArraySlice<String>, _ finding: Finding, _ removal: inout Removal,
        _ isAllowed: (String) -> Bool
    ) {
        guard let name = names.first else {
            self.empty(folder, finding, &removal, isAllowed)
            return
        }
        guard let inside = folder.folder(name) else {
            removal.problem = "it is gone, or is no directory any more"
            return
        }
        self.descend(inside, names.dropFirst(), finding, &removal, isAllowed)
        // Does nothing if anything is left in it.
        if names.count == 1, removal.problem == nil { folder.removeFolder(name) }
    }

    private static let busy = "a worker is using it; the next run continues"
    private static let changed = "it has changed meanwhile; the next run looks again"

    private func empty(
        _ folder: borrowing Folder, _ finding: Finding, _ removal: inout Removal, _ isAllowed: (String) -> Bool
    ) {
        guard folder.lock() else {
            removal.problem = Self.busy
            return
        }
        guard let look = FolderLook.read(folder), self.judgement.finding(look, path: finding.path).isRemovable else {
            removal.problem = Self.changed
            return
        }
        // Under the lock, which workers wait for: few files. A new session uses these names again.
        guard self.remove(look.files.playlists, in: folder, &removal, isAllowed) else { return }
        let keepsInner = self.judgement.keepsInner(look)
        folder.unlock()
        guard self.remove(look.files.media, in: folder, &removal, isAllowed) else { return }
        if !keepsInner {
            for (name, files) in look.inner {
                guard let inside = folder.folder(name) else { continue }
                let all = files.playlists + files.media + files.others + files.last
                guard self.remove(all, in: inside, &removal, isAllowed) else { return }
                folder.removeFolder(name)
            }
        }
        guard folder.lock() else {
            removal.problem = Self.busy
            return
        }
        if case .output(let summary) = look.kind, FolderLook.summary(folder) != summary {
            removal.problem = "a new session has begun in it"
            return
        }
        guard self.remove(look.files.others, in: folder, &removal, isAllowed), !keepsInner else { return }
        _ = self.remove(look.files.last, in: folder, &removal, isAllowed)
    }

    /// - Returns: Whether all of them are removed.
    private func remove(
        _ names: [String], in folder: borrowing Folder, _ removal: inout Removal, _ isAllowed: (String) -> Bool
    ) -> Bool {
        for name in names {
            guard isAllowed(name) else {
                removal.problem = "stopped"
                return false
            }
            if let number = folder.remove(name) {
                removal.problem = "\(name) cannot be removed: \(SystemError.text(number))"
                return false
            }
            removal.files += 1
        }
        return true
    }
}
