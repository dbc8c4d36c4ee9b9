package main

import "context"

// poolActs raise a pool, lose an instance, and heal it.
var poolActs = []act{
	{
		"terraform apply: a pool of at least two GPU spot instances",
		"The provider writes down what it wants before it asks the cloud, so nothing is launched twice.",
		func(ctx context.Context, s *stage) error {
			if err := s.terraformQuietly(ctx, "init", "-input=false"); err != nil {
				return err
			}
			if err := s.terraform(ctx, "apply", "-auto-approve", "-input=false"); err != nil {
				return err
			}
			return s.expectInstances(ctx, 2)
		},
	},
	{
		"gpupool status: what is declared beside what is there",
		"The CLI reads the same store as the provider; it needs neither Terraform nor a server.",
		func(ctx context.Context, s *stage) error { return s.gpupool(ctx, "status", "--machines") },
	},
	{
		"The cloud takes one instance back",
		"That is what spot instances are cheap for. Here the local CVM is told to do it.",
		func(ctx context.Context, s *stage) error {
			if err := s.control(ctx, "reclaim", `{"pool":"train","count":1}`); err != nil {
				return err
			}
			return s.expectInstances(ctx, 1)
		},
	},
	{
		"terraform plan: the loss shows as an update that names the launch",
		"The pool itself is neither lost nor replaced; planned_actions says what apply would do.",
		func(ctx context.Context, s *stage) error { return s.terraformChanges(ctx) },
	},
	{
		"gpupool reconcile --dry-run: the same decision, from cron's side",
		"Plan, dry run and run come from one pure function, so they can't disagree.",
		func(ctx context.Context, s *stage) error { return s.gpupool(ctx, "reconcile", "--dry-run") },
	},
	{
		"gpupool reconcile --wait: the pool is healed",
		"Cron or a CI job runs this line every minute or so; a second run beside it does no harm.",
		func(ctx context.Context, s *stage) error {
			if err := s.gpupool(ctx, "reconcile", "--wait"); err != nil {
				return err
			}
			return s.expectInstances(ctx, 2)
		},
	},
	{
		"terraform plan: nothing left to do",
		"Terraform sees what reconcile did, and agrees with it.",
		func(ctx context.Context, s *stage) error {
			return s.terraform(ctx, "plan", "-input=false", "-detailed-exitcode")
		},
	},
	{
		"terraform destroy: every instance ends",
		"Only instances that carry this pool's own uid are touched.",
		func(ctx context.Context, s *stage) error {
			if err := s.terraform(ctx, "destroy", "-auto-approve", "-input=false"); err != nil {
				return err
			}
			return s.expectInstances(ctx, 0)
		},
	},
	played,
}

// played ends a part: what every step of it did stands in the store.
var played = act{
	"gpupool history: what happened, when, and who did it",
	"Terraform's applies and cron's runs write to the same history, each event once, kept for 35 days.",
	func(ctx context.Context, s *stage) error { return s.gpupool(ctx, "history") },
}
