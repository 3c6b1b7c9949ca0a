import AsyncHTTPClient
import Foundation
import HomeTypes
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

extension GatewayConnection {
    /// Downloads `path`, and hands the bytes to `write` as they come.
    /// - Returns: the header fields of the response, with names in lower case.
    public func download(
        _ path: String, _ write: (Data) throws(HomeError) -> Void
    ) async throws(HomeError) -> [String: String] {
        let response = try await stream(path, headers: [])
        var received: Int64 = 0
        do {
            for try await block in response.body {
                received += Int64(block.readableBytes)
                try write(Data(buffer: block))
            }
        } catch let error as HomeError {
            throw error
        } catch is CancellationError {
            throw .cancelled("the download was cancelled after \(received) bytes")
        } catch {
            throw .unavailable("the download was interrupted after \(received) bytes: \(error)")
        }
        if let length = response.headers.first(name: "Content-Length").flatMap({ Int64($0) }), length != received {
            throw .unavailable("the download was interrupted after \(received) of \(length) bytes")
        }
        return Dictionary(
            response.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Puts JSON to `path` and returns the JSON text of the answer.
    public func put(_ path: String, _ body: Data) async throws(HomeError) -> Data {
        try await send(.put, path, body: body)
    }

    /// Deletes `path` and returns the JSON text of the answer.
    public func deleting(_ path: String) async throws(HomeError) -> Data {
        try await send(.delete, path, body: nil)
    }
}
