import CSQLite

/// The functions that SQLite calls on a ``FaultyDisk``.
enum FaultyVFS {
    typealias File = UnsafeMutablePointer<sqlite3_file>

    /// The header in memory before the file structure of the usual VFS.
    private struct Header {
        var file: sqlite3_file
        var disk: UnsafeMutableRawPointer
        /// The path, which SQLite keeps for as long as the file is open; `nil` for a temporary file.
        var path: UnsafePointer<CChar>?
        var base: UnsafeMutablePointer<sqlite3_vfs>
    }

    private static let headerSize = 64

    static func register(_ disk: FaultyDisk, name: String, base: UnsafeMutablePointer<sqlite3_vfs>) {
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: base.pointee)
        let bytes = Array(name.utf8CString)
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        text.initialize(from: bytes, count: bytes.count)
        vfs.pointee.zName = UnsafePointer(text)
        vfs.pointee.pNext = nil
        vfs.pointee.szOsFile = base.pointee.szOsFile + Int32(headerSize)
        vfs.pointee.pAppData = UnsafeMutableRawPointer(
            context(disk: Unmanaged.passRetained(disk).toOpaque(), base: base))
        vfs.pointee.xOpen = open
        vfs.pointee.xDelete = { vfs, path, _ in
            guard let context = FaultyVFS.context(vfs), let path else { return SQLITE_IOERR }
            if let code = context.disk.failure(of: .delete) { return code }
            let code = context.base.pointee.xDelete(context.base, path, 0)  // As with xSync.
            if code == SQLITE_OK { context.disk.note(.delete(path: String(cString: path))) }
            return code
        }
        // These functions, too, must be called with the usual VFS as their argument.
        vfs.pointee.xAccess = { vfs, path, flags, result in
            guard let base = FaultyVFS.context(vfs)?.base else { return SQLITE_IOERR }
            return base.pointee.xAccess(base, path, flags, result)
        }
        vfs.pointee.xFullPathname = { vfs, path, count, result in
            guard let base = FaultyVFS.context(vfs)?.base else { return SQLITE_IOERR }
            return base.pointee.xFullPathname(base, path, count, result)
        }
        sqlite3_vfs_register(vfs, 0)
    }

    private struct Context {
        let diskPointer: UnsafeMutableRawPointer
        let base: UnsafeMutablePointer<sqlite3_vfs>
        var disk: FaultyDisk { Unmanaged<FaultyDisk>.fromOpaque(diskPointer).takeUnretainedValue() }
    }

    private static func context(
        disk: UnsafeMutableRawPointer, base: UnsafeMutablePointer<sqlite3_vfs>
    ) -> UnsafeMutablePointer<Context> {
        let pointer = UnsafeMutablePointer<Context>.allocate(capacity: 1)
        pointer.initialize(to: Context(diskPointer: disk, base: base))
        return pointer
    }

    private static func context(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> Context? {
        vfs?.pointee.pAppData.map { $0.assumingMemoryBound(to: Context.self).pointee }
    }

    private static let open:
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?, File?, Int32, UnsafeMutablePointer<Int32>?
        ) -> Int32 = { vfs, path, file, flags, outFlags in
            guard let context = FaultyVFS.context(vfs), let file else { return SQLITE_IOERR }
            file.pointee.pMethods = nil
            if let code = context.disk.failure(of: .open) { return code }
            let inner = FaultyVFS.inner(file)
            let code = context.base.pointee.xOpen(context.base, path, inner, flags, outFlags)
            guard code == SQLITE_OK else { return code }
            UnsafeMutableRawPointer(file).assumingMemoryBound(to: Header.self).pointee = Header(
                file: sqlite3_file(pMethods: UnsafePointer(FaultyVFS.methods)), disk: context.diskPointer, path: path,
                base: context.base)
            return SQLITE_OK
        }

    // MARK: Files

    private static func inner(_ file: File) -> File {
        (UnsafeMutableRawPointer(file) + headerSize).assumingMemoryBound(to: sqlite3_file.self)
    }

    private static func header(_ file: File) -> Header {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: Header.self).pointee
    }

    private static func disk(_ file: File) -> FaultyDisk {
        Unmanaged<FaultyDisk>.fromOpaque(header(file).disk).takeUnretainedValue()
    }

    private static func path(_ file: File) -> String { header(file).path.map { String(cString: $0) } ?? "" }

    /// Calls the function of the usual VFS.
    private static func pass(_ file: File?, _ body: (sqlite3_io_methods, File) -> Int32) -> Int32 {
        guard let file else { return SQLITE_IOERR }
        let inner = inner(file)
        guard let methods = inner.pointee.pMethods else { return SQLITE_IOERR }
        return body(methods.pointee, inner)
    }

    /// Fails if the plan requires it. Otherwise calls the function of the usual VFS and records the step.
    private static func attempt(
        _ call: FaultyDisk.Call, _ file: File?, _ step: (String) -> FaultyDisk.Step?,
        _ body: (sqlite3_io_methods, File) -> Int32
    ) -> Int32 {
        guard let file else { return SQLITE_IOERR }
        if let code = disk(file).failure(of: call) { return code }
        let code = pass(file, body)
        if code == SQLITE_OK, let step = step(path(file)) { disk(file).note(step) }
        return code
    }

    // Safe: made once, before the first file is opened, and only read from then on.
    nonisolated(unsafe) private static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 2
        methods.pointee.xClose = { FaultyVFS.pass($0) { $0.xClose($1) } }
        methods.pointee.xRead = { file, bytes, count, offset in
            FaultyVFS.pass(file) { $0.xRead($1, bytes, count, offset) }
        }
        methods.pointee.xWrite = { file, bytes, count, offset in
            FaultyVFS.attempt(
                .write, file,
                { path in
                    let run = UnsafeRawBufferPointer(start: bytes, count: Int(count))
                    return .write(path: path, offset: Int(offset), bytes: Array(run))
                }
            ) { $0.xWrite($1, bytes, count, offset) }
        }
        methods.pointee.xTruncate = { file, size in
            FaultyVFS.attempt(.truncate, file, { .truncate(path: $0, size: Int(size)) }) { $0.xTruncate($1, size) }
        }
        methods.pointee.xSync = { file, flags in
            // The process is not killed, so a real sync is not needed. It would be slow.
            FaultyVFS.attempt(.sync, file, { .sync(path: $0) }) { _, _ in SQLITE_OK }
        }
        methods.pointee.xFileSize = { file, size in FaultyVFS.pass(file) { $0.xFileSize($1, size) } }
        methods.pointee.xLock = { file, level in FaultyVFS.pass(file) { $0.xLock($1, level) } }
        methods.pointee.xUnlock = { file, level in FaultyVFS.pass(file) { $0.xUnlock($1, level) } }
        methods.pointee.xCheckReservedLock = { file, result in
            FaultyVFS.pass(file) { $0.xCheckReservedLock($1, result) }
        }
        methods.pointee.xFileControl = { file, number, argument in
            FaultyVFS.pass(file) { $0.xFileControl($1, number, argument) }
        }
        methods.pointee.xSectorSize = { file in FaultyVFS.pass(file) { $0.xSectorSize($1) } }
        methods.pointee.xDeviceCharacteristics = { file in FaultyVFS.pass(file) { $0.xDeviceCharacteristics($1) } }
        methods.pointee.xShmMap = { file, page, size, extends, memory in
            FaultyVFS.attempt(.shareMemory, file, { _ in nil }) { $0.xShmMap($1, page, size, extends, memory) }
        }
        methods.pointee.xShmLock = { file, offset, count, flags in
            FaultyVFS.pass(file) { $0.xShmLock($1, offset, count, flags) }
        }
        methods.pointee.xShmBarrier = { file in
            guard let file else { return }
            let inner = FaultyVFS.inner(file)
            inner.pointee.pMethods?.pointee.xShmBarrier(inner)
        }
        methods.pointee.xShmUnmap = { file, deletes in FaultyVFS.pass(file) { $0.xShmUnmap($1, deletes) } }
        return methods
    }()
}
