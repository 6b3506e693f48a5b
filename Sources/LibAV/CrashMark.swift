import CLibAV
package import MediaTypes
import Libc

/// Marks which source's data a thread is processing, so that after a crash the next worker process knows which source
/// caused it.
///
/// If a decoder crashes, it takes the process with it, and nothing can be cleaned up. But a signal handler can append
/// one prepared line to a file: the mark that the crashing thread has raised. This identifies exactly one source, costs
/// two stores and no system call per packet, and blames no source if the process is killed from outside. Created and
/// used on one thread.
@safe
package final class CrashMark {
    private let record: UnsafeMutableRawPointer

    /// Creates a mark, which is not raised yet.
    ///
    /// - Parameter line: The line to write; one JSON object.
    package init(_ line: JSONValue) {
        let text = Array(line.text.utf8) + [0x0A]
        let size = MemoryLayout<Int>.size
        let record = UnsafeMutableRawPointer.allocate(
            byteCount: size + text.count, alignment: MemoryLayout<Int>.alignment)
        unsafe record.storeBytes(of: text.count, as: Int.self)
        unsafe text.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { unsafe (record + size).copyMemory(from: base, byteCount: bytes.count) }
        }
        unsafe self.record = record
    }

    deinit { unsafe self.record.deallocate() }

    /// Raises the mark: until ``lower()``, the calling thread processes data of the marked source.
    package func raise() { if unsafe faults.isInstalled { unsafe pthread_setspecific(faults.key, self.record) } }

    /// Lowers the mark: the calling thread has finished without a crash.
    package func lower() { if unsafe faults.isInstalled { unsafe pthread_setspecific(faults.key, nil) } }

    /// Installs the signal handler: from now on, a thread that crashes with its mark raised appends the mark's line to
    /// the file at `path` and writes it to standard error. Call it once, before such threads are created.
    ///
    /// After writing the line, the process ends at once, because viewers wait for the next worker and Swift's own
    /// backtrace would take seconds. A backtrace is still written for crashes without a raised mark, and for all
    /// crashes if `SWIFT_BACKTRACE` is set.
    package static func install(path: String) {
        guard unsafe !faults.isInstalled, unsafe pthread_key_create(&faults.key, nil) == 0 else { return }
        unsafe faults.path = strdup(path)
        unsafe faults.wantsBacktrace = getenv("SWIFT_BACKTRACE") != nil
        unsafe faults.before = UnsafeMutablePointer<sigaction>.allocate(capacity: Int(CLIBAV_LAST_FAULT) + 1)
        unsafe faults.isInstalled = true
        if let before = unsafe faults.before { unsafe clibav_catch_faults(leaveMark, before) }
    }

    /// Runs `body` with a separate signal stack, so that a crash is recorded even after a stack overflow.
    package static func onGuardedStack(_ body: () -> Void) {
        let size = 64 << 10
        let stack = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        unsafe clibav_use_fault_stack(stack, size)
        body()
        clibav_use_fault_stack(nil, 0)
        unsafe stack.deallocate()
    }
}

/// Data for the signal handler: plain memory, set before the handler can run.
@unsafe private struct Faults {
    var isInstalled = false
    var key = pthread_key_t()
    var path: UnsafeMutablePointer<CChar>?
    /// The previous action of each signal, by signal number.
    var before: UnsafeMutablePointer<sigaction>?
    var wantsBacktrace = false
}

private nonisolated(unsafe) var faults = unsafe Faults()
// Written once by `install(path:)`, before the threads that read it are made.

/// Signal handler, on the thread that crashed: no allocation and no lock, only calls listed in signal-safety(7) and a
/// read of a thread-specific value.
private func leaveMark(_ number: Int32) {
    var before = unsafe faults.before
    if let path = unsafe faults.path, let record = unsafe pthread_getspecific(faults.key) {
        let (text, count) = unsafe (record + MemoryLayout<Int>.size, record.load(as: Int.self))
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        if file >= 0 {
            _ = unsafe write(file, text, count)
            close(file)
        }
        _ = unsafe write(STDERR_FILENO, text, count)
        if unsafe !faults.wantsBacktrace { unsafe before = nil }
    }
    // A real fault happens again when the handler returns, but a signal that was sent does not, so it is sent again.
    unsafe clibav_restore_fault(number, before)
    _ = raise(number)
}
