import CLibAV
package import MediaTypes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Whose data a thread has in its hands, so that the next worker knows whom this one died of.
///
/// A decoder that runs into its own fault takes the process with it, and nothing can be tidied up then. What can be done in a
/// signal handler is to append one line that was written in advance to a file: the mark that the faulting thread has raised.
/// That names exactly one source, costs a decoded packet two stores and no system call, and does not accuse anybody when the
/// process is killed from outside. Made and used on one thread.
@safe
package final class CrashMark {
    private let record: UnsafeMutableRawPointer

    /// - Parameter line: One JSON object.
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

    /// Until ``lower()`` the calling thread works for whom the mark names.
    package func raise() { if unsafe faults.isInstalled { unsafe pthread_setspecific(faults.key, self.record) } }

    /// The calling thread has come back alive.
    package func lower() { if unsafe faults.isInstalled { unsafe pthread_setspecific(faults.key, nil) } }

    /// From now on a thread that faults with its mark raised leaves the mark's line in the file at `path`; once, before such
    /// threads are made.
    ///
    /// The process then ends at once, because viewers wait for the next worker: Swift's own backtrace takes seconds, in which
    /// the room stands still. It is written all the same for faults that no mark explains, and for all of them where
    /// `SWIFT_BACKTRACE` is set.
    package static func install(path: String) {
        guard unsafe !faults.isInstalled, unsafe pthread_key_create(&faults.key, nil) == 0 else { return }
        unsafe faults.path = strdup(path)
        unsafe faults.wantsBacktrace = getenv("SWIFT_BACKTRACE") != nil
        unsafe faults.before = UnsafeMutablePointer<sigaction>.allocate(capacity: Int(CLIBAV_LAST_FAULT) + 1)
        unsafe faults.isInstalled = true
        if let before = unsafe faults.before { unsafe clibav_catch_faults(leaveMark, before) }
    }

    /// Runs `body` on a thread whose faults can be noted even when its stack is used up.
    package static func onGuardedStack(_ body: () -> Void) {
        let size = 64 << 10
        let stack = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        unsafe clibav_use_fault_stack(stack, size)
        body()
        clibav_use_fault_stack(nil, 0)
        unsafe stack.deallocate()
    }
}

/// What the signal handler may use: plain memory, set before it can run.
@unsafe private struct Faults {
    var isInstalled = false
    var key = pthread_key_t()
    var path: UnsafeMutablePointer<CChar>?
    /// What each signal did before, by its number.
    var before: UnsafeMutablePointer<sigaction>?
    var wantsBacktrace = false
}

private nonisolated(unsafe) var faults = unsafe Faults()
// Written once by `install(path:)`, before the threads that read it are made.

/// Runs on the thread that faulted: no allocation, no lock, only calls that signal-safety(7) lists and a read of the thread's
/// own slot.
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
    // A fault happens again when this returns, a signal that was sent does not: so it is sent again.
    unsafe clibav_restore_fault(number, before)
    _ = raise(number)
}
