import ArgumentParser

/// `gatehouse automation`: what the home does by itself.
struct AutomationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "automation", abstract: "List, create, run and explain automations.",
        discussion: """
            Refer to an automation by its name, its id or the beginning of its id. A file is YAML or JSON with name, \
            description, isActive and automationGraph; - is standard input. It may name devices by their keys and names, \
            and structures by their names.

            Examples:
              gatehouse automation list
              gatehouse automation create evening-light.yaml
              gatehouse automation run "Evening light"
              gatehouse automation explain "Evening light" --at 2h
              gatehouse automation export "Evening light" > evening-light.yaml
            """,
        subcommands: [
            AutomationListCommand.self, AutomationShowCommand.self, AutomationCreateCommand.self,
            AutomationUpdateCommand.self, AutomationActivateCommand.self, AutomationDeactivateCommand.self,
            AutomationRunCommand.self, AutomationStopCommand.self, AutomationReleaseCommand.self,
            AutomationDeleteCommand.self, AutomationHistoryCommand.self, AutomationExplainCommand.self,
            AutomationSimulateCommand.self, AutomationCandidatesCommand.self, AutomationExportCommand.self,
        ], defaultSubcommand: AutomationListCommand.self)
}

/// Which automation a command is about.
struct AutomationArgument: ParsableArguments {
    @Argument(help: "The automation, by its name or id.", completion: AutomationCompletion.automations)
    var automation: String
}

/// Which structure a command is about.
struct AutomationStructureOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("The structure, where the home has several.", valueName: "structure"),
        completion: HomeCompletion.structures)
    var structure: String?
}
