import Foundation
import Glibc

/// A process started by a test. Keeps its standard error, and its standard output unless the caller reads that.
final class Child: @unchecked Sendable {
    // @unchecked Sendable: `condition` guards all mutable state.
    let name: String
    let pid: pid_t
    private let condition = NSCondition()
    private var lines: [String] = []
    private var rest: [UInt8] = []
    private var errorBytes: [UInt8] = []
    private var openPipes = 0
    private var status: Int32?
    /// Descriptor of its standard output, for a caller that reads it itself.
    let output: Int32
    /// Standard input, if it stays open.
    private let standardInput: Int32?

    /// - Parameters:
    ///   - input: Content of its standard input.
    ///   - keepsInput: Keep its standard input open for ``send(_:)``.
    ///   - readsOutput: Keep its standard output as lines; otherwise the caller reads ``output``.
    init(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil,
        keepsInput: Bool = false, readsOutput: Bool = true
    ) throws {
        self.name = (path as NSString).lastPathComponent
        let standardOutput = try Self.pipe(), standardError = try Self.pipe(), standardInput = try Self.pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, standardInput.reading, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, standardOutput.writing, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, standardError.writing, STDERR_FILENO)
        // The test process may ignore or block signals; a child starts with the defaults.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t(), all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        var argumentPointers = ([path] + arguments).map { strdup($0) } + [nil]
        var variablePointers = variables.map { strdup($0) } + [nil]
        defer { for pointer in argumentPointers + variablePointers { free(pointer) } }
        var child = pid_t()
        let failure = posix_spawn(&child, path, &actions, &attributes, &argumentPointers, &variablePointers)
        for file in [standardInput.reading, standardOutput.writing, standardError.writing] { close(file) }
        self.pid = child
        self.output = standardOutput.reading
        self.standardInput = keepsInput && failure == 0 ? standardInput.writing : nil
        guard failure == 0 else {
            for file in [standardInput.writing, standardOutput.reading, standardError.reading] { close(file) }
            throw Missing("\(path) cannot be started (errno \(failure))")
        }
        if let input { Self.write(Array(input.utf8), to: standardInput.writing) }
        if !keepsInput { close(standardInput.writing) }
        self.openPipes = readsOutput ? 2 : 1
        if readsOutput { self.read(standardOutput.reading) { self.tookOutput($0) } }
        self.read(standardError.reading) { self.errorBytes += $0 }
        Thread.detachNewThread { self.reap() }
    }

    deinit {
        close(self.output)
        if let input = self.standardInput { close(input) }
    }

    /// Writes to its standard input; does nothing without `keepsInput`.
    func send(_ bytes: [UInt8]) {
        if let input = self.standardInput { Self.write(bytes, to: input) }
    }

    // MARK: Its output

    /// Standard error so far.
    var errors: String { self.locked { String(decoding: self.errorBytes, as: UTF8.self) } }

    /// Standard output so far, line by line.
    var outputLines: [String] { self.locked { self.lines } }

    /// The first line of standard output from `start` on that `matches`; waits for it.
    ///
    /// - Returns: The line and the index after it; nil after the timeout or the end of the process.
    func line(from start: Int, timeout: Double, matches: (String) -> Bool) -> (line: String, next: Int)? {
        let deadline = Date(timeIntervalSinceNow: timeout)
        self.condition.lock()
        defer { self.condition.unlock() }
        var index = start
        while true {
            while index < self.lines.count {
                defer { index += 1 }
                if matches(self.lines[index]) { return (self.lines[index], index + 1) }
            }
            if self.status != nil, self.openPipes == 0 { return nil }
            guard self.condition.wait(until: deadline) else { return nil }
        }
    }

    // MARK: Its end

    func signal(_ number: Int32) {
        self.locked { if self.status == nil { kill(self.pid, number) } }
    }

    var isRunning: Bool { self.locked { self.status == nil } }

    /// Waits for the process and all its output.
    ///
    /// - Returns: The exit code, or 128 + signal.
    /// - Throws: ``Missing`` if the process still runs, or its output is still open, after the timeout; it is then killed.
    @discardableResult
    func wait(timeout: Double) throws -> Int32 {
        let deadline = Date(timeIntervalSinceNow: timeout)
        self.condition.lock()
        while self.status == nil || self.openPipes > 0, self.condition.wait(until: deadline) {}
        let (status, isOpen) = (self.status, self.openPipes > 0)
        self.condition.unlock()
        guard let status, !isOpen else {
            self.signal(SIGKILL)
            throw Missing("\(self.name) still runs after \(timeout) s; its output: \(self.errors.suffix(2000))")
        }
        return status
    }

    /// Sends a signal if it still runs, and waits for its end; kills it after ten seconds.
    func stop(_ number: Int32 = SIGTERM) {
        self.signal(number)
        _ = try? self.wait(timeout: 10)
    }

    // MARK: Threads

    private func locked<T>(_ body: () -> T) -> T {
        self.condition.lock()
        defer { self.condition.unlock() }
        return body()
    }

    private func read(_ file: Int32, into take: @escaping @Sendable ([UInt8]) -> Void) {
        let ownsFile = file != self.output
        Thread.detachNewThread {
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = Glibc.read(file, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                self.locked {
                    take(Array(chunk[..<count]))
                    self.condition.broadcast()
                }
            }
            if ownsFile { close(file) }
            self.locked {
                self.openPipes -= 1
                self.condition.broadcast()
            }
        }
    }

    private func tookOutput(_ bytes: [UInt8]) {
        self.rest += bytes
        while let end = self.rest.firstIndex(of: UInt8(ascii: "\n")) {
            self.lines.append(String(decoding: self.rest[..<end], as: UTF8.self))
            self.rest.removeSubrange(...end)
        }
    }

    private func reap() {
        var status: Int32 = 0
        // Does not wait for it under the lock: a signal must never go to a process id that has been reused.
        var information = siginfo_t()
        while waitid(P_PID, id_t(self.pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        self.locked {
            while waitpid(self.pid, &status, 0) < 0, errno == EINTR {}
            self.status = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
            self.condition.broadcast()
        }
    }

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var files: [Int32] = [0, 0]
        guard Glibc.pipe(&files) == 0 else { throw Missing("no pipe (errno \(errno))") }
        for file in files { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
        return (files[0], files[1])
    }

    /// A child that ends without reading its input must not end the tests.
    private static let ignoresBrokenPipes: Void = { _ = Glibc.signal(SIGPIPE, SIG_IGN) }()

    private static func write(_ bytes: [UInt8], to file: Int32) {
        _ = self.ignoresBrokenPipes
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            start += count
        }
    }
}

/// Runs programs to their end.
enum Command {
    struct Result {
        var code: Int32
        var output: String
        var errors: String
    }

    static func run(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil,
        timeout: Double = 60
    ) throws -> Result {
        let child = try Child(path, arguments, environment: environment, input: input)
        let code = try child.wait(timeout: timeout)
        return Result(code: code, output: child.outputLines.map { $0 + "\n" }.joined(), errors: child.errors)
    }

    /// Runs `tandem`.
    static func tandem(_ arguments: [String], input: String? = nil, timeout: Double = 60) throws -> Result {
        try self.run(EndToEnd.binary, arguments, input: input, timeout: timeout)
    }
}
