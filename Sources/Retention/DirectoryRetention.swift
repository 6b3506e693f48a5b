package import MediaTypes

/// Finds and removes the directories of ended rooms below a root.
package struct DirectoryRetention: Sendable {
    /// Highest number of levels below the root at which directories are checked. Deeper ones are reported as skipped.
    package static let deepest = 12
    /// Name of a directory that some file systems have at their root for repairs. No worker writes into it.
    private static let repairs = "lost+found"

    private let root: String
    private let rule: RetentionRule
    private let clock: @Sendable () -> Int64
    private var removalPlan: RemovalPlan

    /// - Parameters:
    ///   - root: Path of the directory below which rooms are searched; it may be a symbolic link.
    ///   - clock: Monotonic time in nanoseconds.
    package init(root: String, rule: RetentionRule, clock: @escaping @Sendable () -> Int64) {
        self.root = root
        self.rule = rule
        self.clock = clock
        self.removalPlan = RemovalPlan(rule)
    }

    // MARK: Finding

    /// Finds the directories of rooms at and below the root and decides which of them can be removed. Changes nothing.
    ///
    /// - Returns: The directories, ordered by path. A directory that could not be checked has the verdict
    ///   ``Finding/Verdict/skip(_:)``. If any directory was not read at all, no live output can be removed, because
    ///   that directory may contain a recording that needs it; except a live output of which only `state.json` is left.
    /// - Throws: ``MediaTypes/MediaError/Code/notReadable`` if the root cannot be opened.
    package mutating func find() throws(MediaError) -> [Finding] {
        let root = try Folder.root(self.root)
        var seen = WalkResult()
        Self.visit(root, [], device: root.identity.device, &seen)
        self.removalPlan = RemovalPlan(self.rule)
        for (path, facts) in seen.found { self.removalPlan.note(facts, path: path) }
        for (path, _) in seen.unseen { self.removalPlan.noteUnseen(path: path) }
        let removalPlan = self.removalPlan
        let skipped = seen.unseen.map { Finding(.directory, path: $0.path, verdict: .skip($0.reason)) }
        return (seen.found.map { removalPlan.finding($0.facts, path: $0.path) } + skipped).sorted { $0.path < $1.path }
    }

    /// The directories that a walk below the root has read, and those that it could not read, with the reason.
    private struct WalkResult {
        var found: [(path: String, facts: FolderFacts)] = []
        var unseen: [(path: String, reason: String)] = []
    }

    private static func text(_ path: [String]) -> String { path.isEmpty ? "." : path.joined(separator: "/") }

    private static func visit(_ folder: borrowing Folder, _ path: [String], device: UInt64, _ seen: inout WalkResult) {
        do throws(SystemError) {
            let scan = try FolderScan.read(folder)
            if let scan { seen.found.append((self.text(path), FolderFacts(scan))) }
            for entry in try folder.entries()
            where entry.kind == .directory && !FolderScan.isInner(entry.name, of: scan)
                && !(path.isEmpty && entry.name == self.repairs)
            {
                self.enter(folder, entry.name, path, device: device, &seen)
            }
        } catch {
            seen.unseen.append((self.text(path), "cannot be read: \(error.text)"))
        }
    }

    private static func enter(
        _ folder: borrowing Folder, _ name: String, _ path: [String], device: UInt64, _ seen: inout WalkResult
    ) {
        let inner = path + [name]
        guard inner.count <= self.deepest else {
            seen.unseen.append((self.text(inner), "is more than \(self.deepest) directories below the root"))
            return
        }
        do throws(SystemError) {
            let inside = try folder.folder(name)
            // The operator may have other ages for another file system that is mounted below the root.
            guard inside.identity.device == device else {
                seen.unseen.append((self.text(inner), "is on another file system: run gc for it separately"))
                return
            }
            self.visit(inside, inner, device: device, &seen)
        } catch {
            if !error.isAbsence { seen.unseen.append((self.text(inner), "cannot be opened: \(error.text)")) }
        }
    }

    // MARK: Removing

    /// The result of a removal.
    package struct Removal: Sendable, Hashable {
        /// Number of removed files or objects. Those that no longer existed count too.
        package var files = 0
        /// Why files of the room are left; `nil` if all files that were to be removed are removed.
        package var problem: String?
    }

    /// Removes the files of a directory that ``find()`` has found, if the directory has not changed since then, and the
    /// directory itself if it is then empty and not the root.
    ///
    /// The files by which the directory is recognized are removed last. If the removal is interrupted, the next run
    /// therefore finds an ended room again, or no room. Before each file, the removal checks the directory. It ends if
    /// a worker has begun a session in the directory, or if the file was changed later than the rule allows.
    ///
    /// - Parameter isAllowed: Called before each removal with the name of the file; returning false ends the removal.
    package func remove(_ finding: Finding, isAllowed: (String) -> Bool = { _ in true }) -> Removal {
        var removal = Removal()
        let names = finding.path == "." ? [] : finding.path.split(separator: "/").map(String.init)
        do throws(MediaError) {
            let root = try Folder.root(self.root)
            self.descend(root, names[...], finding, device: root.identity.device, &removal, isAllowed)
        } catch {
            removal.problem = error.description
        }
        return removal
    }

    private func descend(
        _ folder: borrowing Folder, _ names: ArraySlice<String>, _ finding: Finding, device: UInt64,
        _ removal: inout Removal, _ isAllowed: (String) -> Bool
    ) {
        guard let name = names.first else {
            removal = self.empty(folder, finding, isAllowed)
            return
        }
        do throws(SystemError) {
            let inside = try folder.folder(name)
            guard inside.identity.device == device else {
                removal.problem = "the directory is on another file system"
                return
            }
            self.descend(inside, names.dropFirst(), finding, device: device, &removal, isAllowed)
        } catch {
            removal.problem =
                error.isAbsence
                ? "the directory was removed or replaced" : "the directory cannot be opened: \(error.text)"
            return
        }
        // This call does nothing if the directory is not empty.
        if names.count == 1, removal.problem == nil { folder.removeFolder(name) }
    }

    private static let changed = "the directory has changed since it was listed; the next run checks it again"

    private func empty(
        _ folder: borrowing Folder, _ finding: Finding, _ isAllowed: (String) -> Bool
    ) -> Removal {
        if let problem = FolderRemoval.lock(folder) { return Removal(problem: problem) }
        let read = try? FolderScan.read(folder)
        folder.unlock()
        guard let scan = read ?? nil else { return Removal(problem: Self.changed) }
        let facts = FolderFacts(scan)
        guard self.removalPlan.finding(facts, path: finding.path) == finding, finding.isRemovable else {
            return Removal(problem: Self.changed)
        }
        // The age of live output must never lead to the removal of a recording.
        let kept = self.rule.newest(after: self.rule.recordingsAfter ?? RetentionRule.range.upperBound)
        let newest = finding.kind == .recording ? kept : self.rule.newest(after: self.rule.after)
        var removal = FolderRemoval(scan, newest: newest, clock: self.clock)
        guard removal.removeLocked(scan.files.playlists, in: folder, isAllowed),
            removal.remove(scan.files.media, in: folder, isAllowed)
        else { return removal.result }
        let keepsInner = self.removalPlan.keepsInner(facts)
        if !keepsInner, let problem = self.removeInner(scan, in: folder, &removal, newest: kept, isAllowed) {
            return Removal(files: removal.result.files, problem: problem)
        }
        guard removal.removeLocked(scan.files.others, in: folder, isAllowed), !keepsInner else {
            return removal.result
        }
        _ = removal.removeLocked(scan.files.last, in: folder, isAllowed)
        return removal.result
    }

    /// Removes the files of the subdirectories.
    ///
    /// - Returns: Why files of a worker are left in a subdirectory; `nil` if all are removed.
    private func removeInner(
        _ scan: FolderScan, in folder: borrowing Folder, _ removal: inout FolderRemoval, newest: Int64,
        _ isAllowed: (String) -> Bool
    ) -> String? {
        for (name, files) in scan.inner {
            do throws(SystemError) {
                let inside = try folder.folder(name)
                guard inside.identity.device == folder.identity.device else {
                    return "\(name) is on another file system"
                }
                let all = files.playlists + files.media + files.others + files.last
                guard removal.remove(all, in: inside, of: folder, newest: newest, isAllowed) else {
                    return removal.result.problem
                }
                folder.removeFolder(name)
            } catch {
                if !error.isAbsence { return "\(name) cannot be opened: \(error.text)" }
            }
        }
        return nil
    }
}
