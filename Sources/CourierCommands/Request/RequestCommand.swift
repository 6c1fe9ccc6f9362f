package import CommandArguments
import CourierCore
import CourierMQTT

/// The command `courier rr`: sends a request and prints the response, as mosquitto_rr does.
package struct RequestCommand: CourierCommand {
    package init() {}

    package var helpExitCode: Int32 { ExitCode.failure }

    package var summary: CommandSummary {
        CommandSummary(
            name: "rr", abstract: "ask a question and print the answer",
            usage: [
                "[-h HOST] [-p PORT] -t TOPIC -e RESPONSE-TOPIC (-m TEXT | -f FILE | -s | -n) [OPTIONS]",
                "-L URL -e RESPONSE-TOPIC (-m TEXT | …) [OPTIONS]",
            ],
            discussion: [
                "Subscribes to the response topic, publishes the question with it (MQTT 5), prints the first message that "
                    + "comes, and ends.",
                "The options are those of mosquitto_rr. Options are also read from $XDG_CONFIG_HOME/mosquitto_rr or "
                    + "~/.config/mosquitto_rr, one per line.",
            ],
            groups: RequestArguments.groups.map(\.summary),
            examples: [
                .init("courier rr -t lamp/7/get -e lamp/7/answer -n -W 5", "Asks a lamp, and waits for five seconds."),
                .init(
                    "courier rr -t sum -e responses/desk -m '[1,2]' -D publish correlation-data 7 -F '%D %p'",
                    "Sends a request with correlation data, and prints it with the response."),
            ], exitCodes: ExitCode.meanings)
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = RequestArguments()
        try PublishCommand.read(
            arguments, ArgumentReader(RequestArguments.groups), into: &settings, \.connection, console)
        if settings.connection.isQuiet { console.beQuiet() }
        try settings.connection.checkUsage()
        try settings.connection.checkProperties()
        guard let topic = settings.connection.topics.last, let source = settings.payload.source,
            let answerTopic = settings.responseTopic
        else { throw ArgumentError("All of topic, message, and response topic must be supplied.") }
        guard settings.connection.properties.publish.responseTopic == nil else {
            console.tell("Error in PUBLISH properties: Duplicate response topic.")
            return ExitCode.failure
        }
        try settings.connection.checkStart()
        try settings.connection.checkSetup()
        // If retained messages are ignored, the subscription also asks the broker not to send them.
        if settings.output.ignoresRetained { settings.connection.subscriptionOptions.retainedMessages = .never }
        let schema = try ProtobufSchema(file: settings.output.protoFile, type: settings.output.protoType)
        guard case .bytes(let question) = try Payload(source, console) else { return ExitCode.failure }
        let encoded = try schema?.payload(fromJSON: question) ?? question
        return try RequestRun(settings, topic, answerTopic, encoded, schema, console).run()
    }
}
